# SPDX-License-Identifier: MIT
#
# A thin front: all building is CMake's.
#
#   make            build into build/: bin/glovebox, bin/glovebox-worker, lib/libglovebox.*
#   make run        install what is missing, build, do the main job on the example data
#   make test       install what is missing, build, run the tests
#   make test-all   and the ones of the package under every release of Node
#   make node       the package for Node.js, built in place: node/native
#   make install    PREFIX=/usr/local, DESTDIR= for packagers
#   make bundle     dist/: a folder for any Linux, and packages: tar, npm, deb, MCPB, an image
#   make bench      measure this machine, beside node
#   make nats-soak  CALLS=100000: is each call on another machine told the truth?
#   make soak       CALLS=1000000 ABORTS=100000: does anything grow?
#   make race       ROUNDS=1000000: files exchanged against links while they are read
#   make check      format, style, both linters, headers, symbols
#   make vm         control groups on Debian's kernel and systemd, in a virtual machine
#   make asan       the tests with the host side under AddressSanitizer and UBSan
#   make fuzz       every fuzz target for FUZZ_SECONDS=60 each
#   make mutants    remove the mechanism of each claim of SECURITY.md: do its tests fail?
#   make types      TypeScript of ten npm packages: are its types removed as others do it?
#   make release    tests, then dist/ with notes, signed: KEY=~/.ssh/id_ed25519 MCP_NAME=...
#   make places     the bundle in containers, other Debians, without /proc ...: a table; as root
#   make fresh      `make run` and `make test` in a Debian 12 that has nothing else: before
#                   every release, as root
#   make deps       what run, test, check and fuzz need

BUILD        ?= build
BUILD_TYPE   ?= Release
PREFIX       ?= /usr/local
DESTDIR      ?=
FUZZ_SECONDS ?= 60
ROUNDS       ?= 1000000
# More for CMake: make test CMAKEFLAGS=-DCMAKE_COMPILE_WARNING_AS_ERROR=ON
CMAKEFLAGS   ?=

PRODUCTS := glovebox glovebox_static glovebox-command glovebox-worker

# Ninja where there is one; a build folder keeps the generator it began with. Looked up
# by the shell at that moment: install-deps may just have brought it.
generator = $$(test -f $(1)/CMakeCache.txt || ! command -v ninja >/dev/null || echo "-G Ninja")
configure = cmake -S . -B $(1) $(call generator,$(1)) --log-level=WARNING $(CMAKEFLAGS)
# Written at the end: a configuration that failed leaves none.
configured = $(BUILD)/cmake_install.cmake

# Half of the tests wait most of the time: two for each processor.
ctest_flags = --output-on-failure --no-tests=error --parallel $$((2 * $$(nproc)))

.PHONY: all run test test-all node install bundle bench soak nats-soak race check asan vm fuzz types mutants release places fresh deps clean
.NOTPARALLEL:

all: $(configured)
	@cmake --build $(BUILD) --parallel

# Without the tests: what begins with this needs no test library.
$(configured):
	@command -v cmake >/dev/null && $(call configure,$(BUILD)) \
	    -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_TESTS=OFF -DGLOVEBOX_BENCH=OFF || \
	    { echo 'The build needs more than is installed here: run tools/install-deps'; exit 1; }

run:
	@tools/install-deps build
	@$(MAKE) --no-print-directory $(configured)
	@cmake --build $(BUILD) --parallel --target $(PRODUCTS)
	@printf '\n%s\n%s\n\n  $$ %s\n\n' \
	    'examples/risky-orders.js over the 4,000 orders of examples/data/orders.json,' \
	    'in a sealed process of its own: which open orders should be looked at first?' \
	    'glovebox run --file examples/risky-orders.js --data examples/data/orders.json'
	@$(BUILD)/bin/glovebox run --file examples/risky-orders.js --data examples/data/orders.json

test test-all:
	@tools/install-deps build test
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_TESTS=ON \
	    -DGLOVEBOX_ADDON=ON
	@cmake --build $(BUILD) --parallel
	@ctest --test-dir $(BUILD) $(ctest_flags) $(if $(filter %-all,$@),-C all)

node:
	@tools/install-deps build node
	@$(MAKE) --no-print-directory $(configured)
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_ADDON=ON
	@cmake --build $(BUILD) --parallel --target node

install: $(configured)
	@$(call configure,$(BUILD)) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build $(BUILD) --parallel
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)

bundle:
	@tools/install-deps build node bundle
	@$(MAKE) --no-print-directory $(configured)
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_ADDON=ON
	@cmake --build $(BUILD) --parallel
	@tools/make-bundle.mjs $(BUILD) dist

bench:
	@tools/install-deps build
	@$(MAKE) --no-print-directory $(configured)
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_BENCH=ON
	@cmake --build $(BUILD) --parallel
	@cmake --build $(BUILD) --target bench

CALLS        ?= 1000000
ABORTS       ?= 100000

soak:
	@tools/install-deps build
	@$(MAKE) --no-print-directory $(configured)
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_BENCH=ON
	@cmake --build $(BUILD) --parallel --target glovebox-soak
	@$(BUILD)/bin/glovebox-soak $(CALLS) $(ABORTS)

# The ledger of calls over NATS, but for far more calls than the tests have.
nats-soak: CALLS := $(if $(filter command line,$(origin CALLS)),$(CALLS),100000)
nats-soak:
	@tools/install-deps build test
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_TESTS=ON
	@cmake --build $(BUILD) --parallel
	@GLOVEBOX_CALLS=$(CALLS) $(BUILD)/bin/test_nats_ledger

race:
	@tools/install-deps build test
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_TESTS=ON
	@cmake --build $(BUILD) --parallel --target test_file_race
	@GLOVEBOX_ROUNDS=$(ROUNDS) $(BUILD)/bin/test_file_race

check:
	@tools/install-deps build test check
	@tools/check-style
	@$(call configure,build-check) -DCMAKE_BUILD_TYPE=Release -DGLOVEBOX_ADDON=ON
	@cmake --build build-check --parallel
	@tools/check-symbols build-check
	@tools/check-code build-check

asan:
	@tools/install-deps build test check
	@$(call configure,build-asan) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang \
	    -DGLOVEBOX_SANITIZE=address,undefined -DGLOVEBOX_BENCH=OFF
	@cmake --build build-asan --parallel
	@ctest --test-dir build-asan $(ctest_flags)

vm:
	@tools/install-deps build test vm
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_TESTS=ON
	@cmake --build $(BUILD) --parallel
	@tests/vm/run.sh $(BUILD)

fuzz:
	@tools/install-deps build check
	@$(call configure,build-fuzz) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang \
	    -DGLOVEBOX_SANITIZE=address,undefined -DGLOVEBOX_FUZZ=ON -DGLOVEBOX_TESTS=OFF \
	    -DGLOVEBOX_BENCH=OFF
	@cmake --build build-fuzz --parallel
	@tools/run-fuzz build-fuzz $(FUZZ_SECONDS)

mutants:
	@tools/install-deps build test
	@mkdir -p $(BUILD) && CMAKEFLAGS='$(CMAKEFLAGS)' tools/mutants.mjs $(BUILD)

types:
	@tools/install-deps build test types
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_TESTS=ON
	@cmake --build $(BUILD) --parallel --target strip_types
	@tests/types/compare.mjs $(BUILD)/bin/strip_types

release: test bundle
	@tests/install/release.mjs dist
	@awk '/^## / { section++ } section == 1' CHANGELOG.md >dist/NOTES.md
	@if [ -n "$(KEY)" ]; then ssh-keygen -Y sign -n glovebox -f "$(KEY)" dist/SHA256SUMS; \
	else echo 'dist/SHA256SUMS is not signed: name a key, make release KEY=~/.ssh/id_ed25519'; fi

places: bundle
	@tools/install-deps test place vm
	@$(call configure,$(BUILD)) -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DGLOVEBOX_TESTS=ON
	@cmake --build $(BUILD) --parallel
	@tools/places.mjs $$(echo dist/glovebox-*-linux-*/)

fresh:
	@tools/install-deps fresh
	@tools/fresh-root

deps:
	@tools/install-deps build test check

clean:
	@rm -rf build build-check build-asan build-tsan build-fuzz build-dev build-clang
