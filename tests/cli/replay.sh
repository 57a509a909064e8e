#!/bin/bash
# SPDX-License-Identifier: MIT
#
# replay - `glovebox run --record` and `glovebox replay` from outside: files, messages,
# exit statuses.
#
#     tests/cli/replay.sh GLOVEBOX
set -u

glovebox=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fail() {
    echo "not as wanted: $*"
    failed=1
}

# want STATUS STDOUT STDERR words...: the two are glob patterns that must match all of it.
want() {
    local status=$1 out=$2 err=$3 got
    shift 3
    "$glovebox" "$@" >out 2>err </dev/null
    got=$?
    # shellcheck disable=SC2053
    if [[ $got != "$status" || $(cat out) != $out || $(cat err) != $err ]]; then
        fail "glovebox $*"
        printf '  status %s, wanted %s\n  stdout %s\n  stderr %s\n' "$got" "$status" "$(cat out)" "$(cat err)"
    fi
}

mkdir data
echo 'hello' >data/a.txt
printf '[1,2]' >in.json
printf '[1,3]' >other.json
printf '{"n":1}\n{"n":2}\n' >rows.ndjson
cat >code.js <<'EOF'
async (d) => {
  console.log('line');
  const first = await fs.readFile('data/a.txt', 'utf8');
  const second = await fs.readFile('data/none.txt').catch((e) => e.code);
  await sleep(1000);
  return [first, second, d, env.WHO, Math.random(), Date.now(), crypto.randomUUID()];
}
EOF
policy=(--allow file=data --allow env=WHO=me --allow crypto --allow console --allow timers)

# A text as a pattern that matches it alone.
pattern_of() { sed 's/[][*?\\]/\\&/g' "$1"; }

# ---- a file of the owner's, and the same value ----
(umask 0 && "$glovebox" run --file code.js --data in.json "${policy[@]}" --record r.jsonl) >value 2>&1 ||
    fail "record"
[[ $(stat -c %a r.jsonl) == 600 ]] || fail "the recording is not its owner's alone"
want 0 "$(pattern_of value)" 'replay: the same, with 2 host calls' replay r.jsonl --data in.json
want 0 "$(pattern_of value)" $'?log? line\nreplay: the same*' replay r.jsonl --data in.json --logs --jit off
want 0 '*"outcome":"same","hostCalls":2,"recordedCode":"OK"*' '' replay r.jsonl --data in.json --json
rm -r data
"$glovebox" replay - --data in.json <r.jsonl >out 2>err || fail "from standard input"
cmp -s out value || fail "another value from standard input"

# ---- what is there is not touched; what did not run leaves nothing ----
cp r.jsonl before
want 74 '' 'glovebox: cannot make *File exists' run '() => 1' --record r.jsonl
cmp -s r.jsonl before || fail "an old file was touched"
ln -s nowhere link
want 74 '' 'glovebox: cannot make *' run '() => 1' --record link
[[ -e nowhere ]] && fail "a link was followed"
want 74 '' 'glovebox: cannot make *' run '() => 1' --record no/such/folder
want 65 '' '*' run '() => 1' --dataset a=code.js --record none.jsonl
[[ -e none.jsonl ]] && fail "a recording of nothing"
want 64 '' '*--record-input*is for --record*' run '() => 1' --record-input
want 69 '' '*runner*memory*cannot be recorded*' run '() => 1' --runner memory --record memory.jsonl

# ---- data ----
want 65 '' '*the recording is of an input that is not in it*--data FILE*' replay r.jsonl
want 65 '' '*the recording is of another input: 5 bytes*' replay r.jsonl --data other.json
want 65 '' "*without the dataset 'x'*" replay r.jsonl --data in.json --dataset x=in.json
want 66 '' '*' replay r.jsonl --data nowhere
want 66 '' '*' replay nowhere.jsonl
"$glovebox" run 'd => d.length' --data in.json --record kept.jsonl --record-input >/dev/null || fail "--record-input"
want 0 '2' 'replay: the same, with 0 host calls' replay kept.jsonl
want 0 '2' '*' replay kept.jsonl --data in.json
want 65 '' '*another input*' replay kept.jsonl --data other.json
"$glovebox" run '() => datasets.a.length' --dataset a=rows.ndjson --record set.jsonl >/dev/null || fail "dataset"
want 0 '2' '*the same*' replay set.jsonl --dataset a=rows.ndjson
want 65 '' "*with the dataset 'a'*" replay set.jsonl
want 65 '' "*another dataset 'a'*" replay set.jsonl --dataset a=in.json
printf 'var five = 5;' >five.js
"$glovebox" run '() => five' --preload five.js --record pre.jsonl >/dev/null || fail "preload"
want 0 '5' '*the same*' replay pre.jsonl --preload five.js
want 65 '' "*with the preload 'five.js'*--preload FILE*" replay pre.jsonl
printf 'var five = 6;' >five.js
want 65 '' "*another preload 'five.js'*" replay pre.jsonl --preload five.js

# ---- something else ----
sed "s/none\.txt/gone.txt/" r.jsonl >edited.jsonl
want 21 '' $'glovebox: DIVERGED: the replay diverged at host call 2: *\n  recorded: {"what":"request","id":2,"name":"fs.readFile",*gone.txt*"sha256":"*\n  came:     {"what":"request","id":2,"name":"fs.readFile",*gone.txt*"sha256":"*' replay edited.jsonl --data in.json
sed 's/"bytes":"[^"]*"/"bytes":"hallo"/' r.jsonl >answer.jsonl
want 21 '' $'glovebox: DIVERGED: *the value is another\n*recorded: *hello*came: *hallo*' replay answer.jsonl --data in.json
want 21 '*"outcome":"diverged"*"hostCall":0,"line":*"recorded":*"came":*' '' replay answer.jsonl --data in.json --json

# ---- as badly as before is as recorded ----
"$glovebox" run '() => null.x' --record bad.jsonl >out 2>err
[[ $? == 13 ]] || fail "the code's own exit status, recorded"
want 0 '' '*RUNTIME: TypeError*replay: the same, with 0 host calls' replay bad.jsonl
"$glovebox" run '() => { for (;;) {} }' --timeout 1000 --record slow.jsonl >out 2>err
[[ $? == 10 ]] || fail "a timeout, recorded"
want 0 '' '*TIMEOUT*replay: the same, with 0 host calls, up to where the recorded call was stopped' replay slow.jsonl
"$glovebox" run '() => { let n = 0; for (let i = 0; i < 1e8; i++) n += i % 7; return n }' --record long.jsonl >out 2>err
want 10 '' '*TIMEOUT*replay: stopped itself, after 0 host calls that were the same' replay long.jsonl --timeout 150 --jit off

# ---- hostile files ----
head -c 700 r.jsonl >cut.jsonl
want 65 '' 'glovebox: cut.jsonl:3:1: the recording cannot be read: the line does not end' replay cut.jsonl
head -4 r.jsonl >short.jsonl
want 65 '' 'glovebox: short.jsonl:5:1: the recording ends before its line "end"' replay short.jsonl
sed '6s/"id":1/"id":"1"/' r.jsonl >type.jsonl
want 65 '' "glovebox: type.jsonl:6:*: the recording cannot be read: 'id' must be a whole number*" replay type.jsonl --data in.json
sed '1s/"version":2/"version":3/' r.jsonl >new.jsonl
want 65 '' 'glovebox: new.jsonl:1:1: *version 3 is not known here, 2 is' replay new.jsonl
want 65 '' 'glovebox: in.json:1:*' replay in.json
: >nothing.jsonl
want 65 '' 'glovebox: nothing.jsonl:1:1: *' replay nothing.jsonl
want 64 '' '*one recording is replayed*' replay
want 64 '' '*one recording is replayed*' replay r.jsonl r.jsonl
exit $failed
