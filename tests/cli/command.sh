#!/bin/bash
# SPDX-License-Identifier: MIT
#
# command - `glovebox` as people and scripts meet it: what goes where, which exit status.
#
#     tests/cli/command.sh GLOVEBOX
set -u

glovebox=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
umask 077 # files that decide are refused if others may write them
failed=0
count=0

# read_all VARIABLE FILE: as $(cat FILE), without a process.
read_all() {
    IFS= read -r -d '' "$1" <"$2" || :
    while [[ ${!1} == *$'\n' ]]; do printf -v "$1" %s "${!1%$'\n'}"; done
}

# want STATUS STDOUT STDERR words...: the two are glob patterns that must match all of it.
want() {
    local status=$1 out=$2 err=$3 got_status got_out got_err text
    shift 3
    "$glovebox" "$@" >out 2>err </dev/null
    got_status=$?
    read_all got_out out
    read_all got_err err
    count=$((count + 1))
    # shellcheck disable=SC2053
    if [[ $got_status != "$status" || $got_out != $out || $got_err != $err ]]; then
        printf 'not as wanted: glovebox %s\n  status %s, wanted %s\n  stdout %s\n  wanted %s\n  stderr %s\n  wanted %s\n' \
            "$*" "$got_status" "$status" "$got_out" "$out" "$got_err" "$err"
        failed=$((failed + 1))
    fi
}

printf '[{"n":1},{"n":2},{"n":40}]' >data.json
printf '{"n":1}\n\n{"n":2}\r\n{"n":40}' >data.ndjson
printf '[1,\n 2,,3]' >bad.json
printf '{"a":1}\n{"a":\n' >bad.ndjson
printf '\xef\xbb\xbf[7]' >bom.json
printf '"\xff"' >latin.json
: >empty.json
printf '(d) => d.length\n' >count.js
printf '() => "\xff"' >binary.js
printf '\x00\x01\x02ELF' >nul.js
printf '() => "a\x00b".length' >nul_in_text.js
: >empty.js
printf 'globalThis.twice = (x) => 2 * x;\n' >twice.js
printf 'var four = twice(2);\n' >four.js
printf 'var a;\n\nnothing.here;\n' >throws.js
printf '(d) => {\r  return d.x.y;\r}\r' >mac.js
printf '(d) => {\xe2\x80\xa8  return require("fs");\r\n}' >separated.js
mkdir folder
head -c 9000000 /dev/zero | tr '\0' ' ' >large.json

# ---- the value, and nothing but the value, on standard output ----
want 0 '3' '' run 'd => d.length' --data data.json
want 0 '43' '' run 'd => d.reduce((s, r) => s + r.n, 0)' --data data.ndjson
want 0 '\[7\]' '' run 'd => d' --data bom.json
want 0 '3' '' run --file count.js --data data.json
want 0 'null' '' run 'd => d'
want 0 '' '  note: the function returned undefined' run '() => undefined'
want 0 '{"ok":true,"exec*' '' run --json '() => undefined'
want 0 '"é\\u0000"' '' run '() => "é\0"'
want 0 '43' '' run '() => datasets.a.reduce((s, r) => s + r.n, 0)' --dataset a=data.ndjson
want 0 '3' '' run 'd => d.length' --dataset only=data.json
want 0 '\[3,3\]' '' run '() => [datasets.a.length, datasets.b.length]' --dataset a=data.json --dataset b=data.ndjson
want 0 '\[10,4\]' '' run '() => [twice(5), four]' --preload twice.js --preload four.js
want 0 '"Thu Jan 01 1970*"' '' run '() => String(new Date(0))'
want 0 '6' '' run 'function execute(x) { return x + 1 }' --form execute --data <(echo 5)
want 0 '3' '' run 'return params.a + params.b' --form body --params '{"a":1,"b":2}'
want 0 '4' '' run 'const a = await 3; a + 1' --form script
want 0 '2' '' run -- '() => -1 + 3'
want 0 '1' '' run --timeout=500 --memory 32 --cpu=400 --max-output 10 --jit off '() => 1'
want 0 '1767225600000' '' run '() => Date.now()' --now 2026-01-01
want 0 '\[true,true\]' '' run '() => [typeof Intl === "undefined", typeof JSON === "object"]' --globals minimal
first=$("$glovebox" run '() => [Math.random(), Math.random()]' --seed 7)
want 0 "${first//[/\\[}" '' run '() => [Math.random(), Math.random()]' --seed=007

# ---- standard input ----
count=$((count + 1))
[[ $(echo '[1,2]' | "$glovebox" run 'd => d.length' --data -) == 2 ]] || failed=$((failed + 1))
[[ $(echo '() => 5' | "$glovebox" run --file -) == 5 ]] || failed=$((failed + 1))

# ---- each code: its name, its place, its exit status ----
want 10 '' 'glovebox: TIMEOUT: *' run '() => { for (;;) {} }' --timeout 1000
want 11 '' 'glovebox: MEMORY: *' run '() => { const a = []; for (;;) a.push({a: 1}); }' --memory 16
want 12 '' 'glovebox: SYNTAX: * at line 1, column *' run '() => { return (1; }'
want 13 '' $'glovebox: RUNTIME: TypeError: * at line 2, column *\n*null.x*\n*' run $'() => {\n  return null.x;\n}'
want 13 '' $'glovebox: RUNTIME: TypeError: * at line 2, column 11\n      1 | (d) => {\n  >   2 |   return d.x.y;\n*\n      3 | }\n*' run --file mac.js
want 15 '' 'glovebox: INVALID_CODE: * at line 2, column 10'* run --file separated.js
want 15 '' 'separated.js:2:10: *' check separated.js
want 13 '' 'glovebox: RUNTIME: *out of memory*' run '() => { throw new Error("out of memory") }'
want 14 '' 'glovebox: OUTPUT_TOO_LARGE: *' run '() => "x".repeat(100)' --max-output 50
want 15 '' 'glovebox: INVALID_CODE: * at line 1, column 7*' run '() => require("fs")'
want 15 '' 'glovebox: INVALID_CODE: *' run ''
want 18 '' "glovebox: INVALID_DATA: bad.json:2:4: *" run 'd => d' --data bad.json

# ---- console ----
want 0 '1' $'?log? a *1*\n?warn? b' run '() => { console.log("a", {x: 1}); console.warn("b"); return 1 }' --logs
want 0 '1' '' run '() => { console.log("a"); return 1 }'
want 0 '1' '?log? \\u{1b}?2J' run '() => { console.log("\x1b[2J"); return 1 }' --logs
want 13 '' $'glovebox: RUNTIME: Error: no *\n*note: 1 console line: --logs shows it' run '() => { console.log("a"); throw new Error("no") }'

# ---- --json: everything in one object, nothing on standard error ----
want 0 '{"ok":true,*"value":1*"executionMs":*"logs":*"stats":{*}*}' '' run '() => 1' --json
want 13 '{"ok":false,*"code":"RUNTIME"*"location":{"line":1,*}*}' '' run '() => null.x' --json
want 18 '{"ok":false,"code":"INVALID_DATA",*"file":"bad.ndjson"*"line":2*}' '' run 'd => d' --data bad.ndjson --json
want 66 '{"ok":false,"status":"NO_INPUT",*}' '' run 'd => d' --data nowhere --json
want 64 '{"ok":false,"status":"GBX_E_USAGE","error":"'"'--memory' is from 8 to 4096, not 1"'"}' '' run '() => 1' --json --memory 1
want 64 '{"ok":false,"status":"GBX_E_USAGE",*--jsn*}' '' run '() => 1' --jsn --json
want 64 '{"ok":false,"status":"GBX_E_USAGE",*no code*}' '' run --json
want 64 '{"ok":false,"status":"GBX_E_USAGE",*}' '' check --json a b
want 64 '{"ok":false,"status":"GBX_E_USAGE",*}' '' replay --json
want 64 '' *"'--memory'"* run --memory 1 -- --json
want 64 '' *"unknown option '--json'"* mcp import --json

# ---- bad input: one clear line ----
want 66 '' "glovebox: cannot read 'nowhere.json': no such file" run 'd => d' --data nowhere.json
want 66 '' "glovebox: cannot read 'folder': it is a directory" run 'd => d' --data folder
want 66 '' "glovebox: cannot read 'nowhere.js': *" run --file nowhere.js
want 66 '' "glovebox: cannot read 'nowhere': *" run 'd => d' --dataset a=nowhere
want 18 '' 'glovebox: INVALID_DATA: empty.json:1:1: *' run 'd => d' --data empty.json
want 18 '' 'glovebox: INVALID_DATA: latin.json:1:2: invalid UTF-8' run 'd => d' --data latin.json
want 18 '' 'glovebox: INVALID_DATA: bad.ndjson:2:6: *' run 'd => d' --data bad.ndjson
want 18 '' 'glovebox: INVALID_DATA: --params:1:2: *' run 'return 1' --form body --params '{a'
want 65 '' 'glovebox: bad.json:2:4: *' run 'd => d' --dataset a=bad.json
want 64 '' *"name"* run 'd => d' --dataset 'not a name=data.json'
want 66 '' "glovebox: cannot read 'nowhere.js': *" run 'd => d' --preload nowhere.js
want 65 '' "glovebox: cannot preload throws.js:3:8: ReferenceError: Can't find variable: nothing" run 'd => d' --preload throws.js
want 65 '{"ok":false,"status":"GBX_E_DATA","error":"cannot preload throws.js:3:8: *","location":{"line":3,"column":8}}' '' run 'd => d' --preload throws.js --json
want 65 '' "glovebox: the preload 'binary.js' is not UTF-8 at line 1, column 8" run 'd => d' --preload binary.js
want 64 '' *"two preloads have the name 'twice.js'"* run 'd => d' --preload twice.js --preload twice.js
want 69 '' *"the runner 'memory' has no preloads"* run 'd => d' --preload twice.js --runner memory
want 15 '' 'glovebox: INVALID_CODE: binary.js:1:8: this is not UTF-8: byte 0xff' run --file binary.js
want 15 '' 'glovebox: INVALID_CODE: *' run --file nul.js
want 0 3 '' run --file nul_in_text.js
want 15 '' 'glovebox: INVALID_CODE: *' run --file empty.js
want 11 '' "glovebox: MEMORY: 'large.json' is larger than 8388608 bytes"* run 'd => 1' --data large.json --memory 8
if [ "$(id -u)" -ne 0 ]; then
    chmod 0 count.js
    want 66 '' "glovebox: cannot read 'count.js': no permission" run --file count.js
    chmod 600 count.js
fi

count=$((count + 1))
[[ $(GLOVEBOX_WORKER=/nowhere "$glovebox" run '() => 1' 2>&1) == "glovebox: cannot open the worker program '/nowhere': No such file or directory; set GLOVEBOX_WORKER to where glovebox-worker is" ]] || failed=$((failed + 1))

# ---- wrong use ----
want 64 '' *'no code'* run
want 15 '' "glovebox: INVALID_CODE: 'count.js' is a file: put --file before it, and what is in it is run" run count.js
want 12 '' "glovebox: SYNTAX: './count.js' is a file: put --file before it, and what is in it is run" run ./count.js
missing="no file 'no.js'; one that is there is run with --file before its name"
want 15 '' "glovebox: INVALID_CODE: $missing" run no.js
want 13 '' "glovebox: RUNTIME: $missing" run no.js --form script
want 13 '' "glovebox: RUNTIME: ReferenceError*" run 'nofile.json.x' --form script

# ---- code that lacks its input is told of standard input, which nobody read ----
piped() { # pattern of stderr, words...
    local err=$1 got_err
    shift
    got_err=$(printf '{"a":1}' | "$glovebox" run "$@" 2>&1 >out)
    count=$((count + 1))
    # shellcheck disable=SC2053
    if [[ $got_err != $err ]]; then
        printf 'not as wanted: piped into glovebox run %s\n  stderr %s\n  wanted %s\n' "$*" "$got_err" "$err"
        failed=$((failed + 1))
    fi
}
piped '*TypeError: null is not*note: nothing has read what is piped in: --data - makes it the input' 'd => d.a'
piped '' 'd => d.a' --data -
piped '' 'd => 1'
piped '*RangeError: x at line 1, column 28*^' 'd => { throw new RangeError("x") }'
want 64 '' *'more than one argument'* run a b
want 64 '' *'give one of them'* run a --file b
want 64 '' *"did you mean '--timeout'"* run a --timout 4
want 64 '' *"'--memory' is from 8 to 4096, not 7"* run a --memory 7
want 64 '' *"is for --form body"* run a --params 1
want 64 '' *"'--dataset' needs NAME=FILE"* run a --dataset x
want 64 '' *"only one of the files"* run a --data - --dataset x=-
want 64 '' *"'--seed'"* run a --seed 1x
want 64 '' *"'--now'"* run a --now yesterday
want 64 '' *"did you mean 'doctor'"* docter
want 64 '' 'usage: *'
want 69 '' "glovebox: *runner 'nothing'*" run '() => 1' --runner nothing

# ---- check ----
want 0 '' '' check count.js
want 15 '' '*:1:1: INVALID_CODE: *' check empty.js
want 15 '' '*' check binary.js
want 66 '' '*no such file*' check nowhere.js
want 0 '{"ok":true,"violations":\[\]}' '' check --json count.js
echo '(d) => { return eval(d) + require("fs") }' >bad.js
want 15 '{"ok":false,"violations":\[{"code":"INVALID_CODE","line":1,*"rule":*},{*}\]}' '' check bad.js --json
want 15 '' 'bad.js:1:*: INVALID_CODE: *bad.js:1:*' check bad.js
echo '(d) => { return (1; }' >syntax.js
want 12 '' 'syntax.js:1:*: SYNTAX: *' check syntax.js
# What the guard's parser cannot explain, a worker does, as in a run.
printf 'const x = 5;\nreturn x *\n' >cut.js
want 12 '' 'cut.js:2:11: SYNTAX: *end of script*hint: the code ends here, *' check cut.js --form script
# What the grammar of the guard allows, a worker finds; it runs nothing.
echo '(d) => { let a = 1; let a = 2; return a }' >twice_declared.js
want 12 '' "twice_declared.js:1:25: SYNTAX: *variable twice*hint: *taken*" check twice_declared.js
echo 'throw new Error("it ran"); function execute() {}' >quiet.js
want 0 '' '' check quiet.js --form execute
printf 'interface A { n: number }\nexport default (d: A[]): number => d.length as number\n' >typed.ts
want 0 '' '' check typed.ts
want 0 '3' '' run --file typed.ts --data data.json
printf 'enum A { x }\n(d) => A.x\n' >enum.ts
want 12 '' "enum.ts:1:1: SYNTAX: *an enum is more than a type*hint: use an object*" check enum.ts
want 12 '{"ok":false,"violations":\[{"code":"SYNTAX","line":1,"column":1,"rule":"syntax",*"hint":"use an object*}\]}' '' check enum.ts --json
want 12 '' "*an enum is more than a type at line 1, column 1*" run --file enum.ts
for form in function execute body script; do
    echo "export function execute(d: any): number { return 4 as number }" >$form.ts
    want 0 '*' '*' run --file $form.ts --form $form
    want 0 '' '' check $form.ts --form $form
done

# ---- help, version, doctor ----
for command in run check doctor bench help version; do
    want 0 "usage: glovebox $command*--color WHEN*" '' help $command
    want 0 "usage: glovebox $command*" '' $command --help
done
want 0 'usage: glovebox COMMAND*' '' --help
want 0 'glovebox 0.*' '' --version
want 0 '*  17  ABORTED *' '' help exit-status
want 0 'version  *layers of the seal*seccomp*' '' doctor
want 0 '{"version":*"layers":\[{*}\]*}' '' doctor --json
if [[ $(cat /proc/sys/kernel/randomize_va_space) == 2 ]]; then
    printf '#!/bin/sh\nexec setarch -R %q "$@"\n' "$glovebox" >fixed
    chmod +x fixed
    glovebox=./fixed want 0 '*addressLayout     random*' '' doctor
fi
case $("$glovebox" doctor) in
*speculation*'store bypass '*controll*) # which is no reason to go on without it
    want 69 '' *"cannot turn its processor's speculation off"* run '() => 1' --speculation guarded
    ;;
*) want 0 '*speculation  *store bypass @(off|not affected), indirect branches @(off|not affected)*' '' doctor --speculation guarded ;;
esac
case $(id -u):$(awk '{print $3}' /proc/self/uid_map) in
0:??????*) # root, with ids to become
    want 0 '*user  *of no other process*' '' doctor
    want 0 '*user  *12345, as configured*' '' doctor --worker-uid 12345
    ;;
0:*) ;;
*)
    want 0 "*user  *$(id -u), the host's own*" '' doctor
    want 64 '' '*needs a host that is root*' run '() => 1' --worker-uid 12345
    ;;
esac

# Without --json it is in docs/install.md, whose commands are tested, too.
want 0 '{"attacks":\[{*"breaches":0,*}}' '' doctor --attack --json
want 0 '{"ok":true,"value":1,*"runner":"memory","isolated":false*' '' run '() => 1' --json --runner memory

# ---- what the code may reach: refused before anything runs, with the place ----
printf '{\n  "console": true,\n  "fecth": {}\n}' >slip.json
printf '{"file": {"allow": ["folder", "nowhere"]}}' >gone.json
printf '{"crypto": true, "env": {"A": "b"}, "limits": {"timeoutMs": 700}}' >policy.json
printf 'token-in-a-file\n' >token
export GBX_CLI_TOKEN=token-in-the-environment
unset GBX_CLI_NONE
want 78 '' "glovebox: slip.json:3:3: fecth: unknown key: did you mean 'fetch'?" run '() => 1' --policy slip.json
want 78 '' "glovebox: gone.json:1:31: *the directory 'nowhere' does not exist" run '() => 1' --policy gone.json
want 78 '{"ok":false,"status":"GBX_E_POLICY",*"file":"slip.json","location":{"line":3,"column":3}}' '' run '() => 1' --policy slip.json --json
want 78 '' 'glovebox: slip.json:3:3: *' check count.js --policy slip.json
printf '{"limits": {"codeBytes": 1048576}}' >long.json
printf '() => "%0100000d"' 1 >long.js
want 15 '' 'long.js:*INVALID_CODE: *65536*' check long.js
want 0 '' '' check long.js --policy long.json
want 66 '' "glovebox: cannot read the policy 'nowhere.json': no such file" run '() => 1' --policy nowhere.json
want 78 '' "glovebox: --allow fetch=a.example,\*:1:17: *" run '() => 1' --allow 'fetch=a.example,*'
want 78 '' "glovebox: --allow fecth=a:1:1: *did you mean 'fetch'?" run '() => 1' --allow fecth=a
want 78 '' "glovebox: --allow file=nowhere:1:6: *" run '() => 1' --allow crypto --allow file=nowhere
want 78 '' "glovebox: the environment variable 'GBX_CLI_NONE' is not set*" run '() => 1' --secret T=GBX_CLI_NONE@a.example
want 64 '' "glovebox: '--secret' needs NAME=X@SITE*" run '() => 1' --secret T=GBX_CLI_TOKEN
want 78 '' "glovebox: *'\*' would allow every host*" run '() => 1' --secret 'T=./token@*'
want 78 '' "glovebox: *'T' is listed twice*" run '() => 1' --secret T=./token@a.example --secret T=GBX_CLI_TOKEN@a.example

# ---- files that others can change decide nothing, unless that is asked for ----
cp policy.json open.json
cp token open-token
chmod g+w open.json open-token
printf '{"secrets": {"T": {"file": "token", "sites": ["a.example"]}}}' >files.json
printf '{"secrets": {"T": {"file": "open-token", "sites": ["a.example"]}}}' >names.json
refused="is refused, since others may * run chmod go-*w open* (the option trust-files takes it as it is)"
want 66 '' "glovebox: the policy 'open.json' $refused" run '() => 1' --policy open.json
want 66 '' "glovebox: the policy 'open.json' $refused" check count.js --policy open.json
want 78 '' "glovebox: the secret '././open-token' is refused,*" run '() => 1' --secret T=./open-token@a.example
want 78 '' "glovebox: names.json:1:*: secrets.T.file: the secret './open-token' is refused,*" run '() => 1' --policy names.json
want 0 '1' '' run '() => 1' --policy open.json --secret T=./open-token@a.example --trust-files
want 0 '1' '' run '() => 1' --policy names.json --trust-files
want 0 '1' '' run '() => 1' --policy <(cat policy.json) --secret T=<(cat token)@a.example
if [ "$(id -u)" = 0 ]; then
    chmod 644 token
    warning="glovebox: warning: others may read the secret *: it is taken since root owns it"
    printf '{"mcpServers": {"a": {"command": "x", "disabled": true}}, "glovebox": {"secrets": {"T": {"file": "token", "servers": ["a"]}}}}' >warned.json
    want 0 '1' "$warning" run '() => 1' --secret T=./token@a.example
    want 0 '1' "$warning" run '() => 1' --policy files.json
    want 0 'a *disabled' "$warning" mcp doctor --config warned.json
    want 0 '' "$warning" mcp --config warned.json
    cp --preserve=mode token $'sly\e[2J'
    want 0 '1' *'sly\\u{1b}?2J'* run '() => 1' --secret T=$'./sly\e[2J@a.example'
    chmod 600 token
fi

# ---- what is allowed is there, and nothing else is ----
want 0 '\["object","object","undefined","undefined","undefined"\]' '' run '() => [typeof crypto, typeof env, typeof fetch, typeof console, typeof setTimeout]' --policy policy.json
want 0 '\["object","undefined","undefined","object","function"\]' '' run '() => [typeof crypto, typeof env, typeof fetch, typeof console, typeof setTimeout]'
want 0 '\["object","undefined","undefined","object","function"\]' '' run '() => [typeof crypto, typeof env, typeof fetch, typeof console, typeof setTimeout]' --allow crypto
want 0 '"function"' '' run '() => typeof setTimeout' --policy policy.json --allow timers
want 0 '"token-in-the-environment b"' '' run '() => env.GBX_CLI_TOKEN + " " + env.A' --policy policy.json --allow env=GBX_CLI_TOKEN
want 10 '' 'glovebox: TIMEOUT: *700 ms*' run '() => { for (;;) {} }' --policy policy.json
want 15 '' "glovebox: INVALID_CODE: 'crypto' is off*--allow crypto*" run '() => crypto.createHash("md5")'
want 15 '' "glovebox: INVALID_CODE: 'fetch' is off*--allow fetch=HOST*" run '() => fetch("https://a.example")'
want 15 '' "glovebox: INVALID_CODE: *'https://b.example'*" run '() => fetch("https://b.example")' --allow fetch=a.example
printf '(d) => fetch("https://a.example/x") + fs.y + crypto.z' >uses.js
want 15 '' 'uses.js:1:8: *uses.js:1:39: *uses.js:1:46: *' check uses.js
want 15 '' "uses.js:1:14: *'https://a.example'*" check uses.js --allow fetch=b.example --allow file=. --allow crypto
want 0 '' '' check uses.js --allow fetch=a.example --allow file=. --allow crypto
want 0 '' '' check uses.js --allow fetch=a.example --allow 'functions=fs.list,crypto.*'
want 0 '\["function",true\]' '' run '() => [typeof fetch, JSON.stringify(globalThis).indexOf("token-in") < 0]' --allow fetch=a.example --secret T=GBX_CLI_TOKEN@a.example --secret U=./token@a.example

printf '{"file": {"allow": ["folder", "."]}, "secrets": {"T": {"file": "token", "sites": ["a.example"]}}}' >files.json
printf 'inside' >folder/inside.txt
want 0 '"inside"' '' run "() => fs.promises.readFile('inside.txt', 'utf8')" --allow file=folder
want 0 '"inside"' '' run "() => fs.promises.readFile('folder/inside.txt', 'utf8')" --policy files.json
want 13 '' 'glovebox: RUNTIME: Error: *' run "() => fs.promises.readFile('../data.json')" --allow file=folder
want 13 '' 'glovebox: RUNTIME: Error: *files.json* is not below*' run "() => fs.promises.readFile('files.json')" --policy files.json
want 13 '' 'glovebox: RUNTIME: Error: *token* is not below*' run "() => fs.promises.readFile('token')" --policy files.json
want 13 '' 'glovebox: RUNTIME: Error: *token* is not below*' run "() => fs.promises.readFile('token')" --allow file=. --secret T=./token@a.example

# ---- colours ----
want 13 '' $'glovebox: \e?1;31mRUNTIME*' run '() => null.x' --color always
want 13 '' $'glovebox: RUNTIME*' run '() => null.x' --color never

# ---- a full disk ----
"$glovebox" run '() => 1' >/dev/full 2>err
[[ $? == 74 && $(cat err) == 'glovebox: cannot write to standard output' ]] || {
    echo "a full disk went unnoticed: $(cat err)"
    failed=$((failed + 1))
}

echo "$count cases, $failed not as wanted"
[ $failed -eq 0 ]
