# SPDX-License-Identifier: MIT
# bash completion for glovebox

_glovebox_files() { # suffixes: files that end so, and folders
    local suffix
    COMPREPLY=($(compgen -d -- "$cur"))
    for suffix in "$@"; do
        COMPREPLY+=($(compgen -f -X "!*.$suffix" -- "$cur"))
    done
    compopt -o filenames 2>/dev/null || true
}

_glovebox() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options=
    local common='--color --help' engine='--require --jit --globals --runner'
    engine+=' --total-memory --total-cpu --worker-uid --speculation'
    local nats='--nats --creds --tls-ca'
    local policy='--policy --allow --secret --trust-files'

    COMPREPLY=()
    # --name=value comes as three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = && COMP_CWORD -gt 2 ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
        # --allow file=data: of what can be allowed, only directories are known here.
        if [[ ${COMP_WORDS[COMP_CWORD - 3]} == --allow ]]; then
            [[ $prev != file ]] || _glovebox_files
            return
        fi
    fi
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W 'run replay check audit mcp runner runners doctor bench help version --help --version' -- "$cur"))
        return
    fi
    if [[ $command == mcp ]]; then
        if ((COMP_CWORD == 2)) && [[ $cur != -* ]]; then
            COMPREPLY=($(compgen -W 'allow deny login logout import doctor' -- "$cur"))
            return
        fi
        case ${COMP_WORDS[2]} in
        allow | deny | login | logout | import | doctor) command="mcp ${COMP_WORDS[2]}" ;;
        esac
    fi
    case $prev in
    --file)
        _glovebox_files js mjs
        return
        ;;
    --data)
        _glovebox_files json ndjson jsonl
        return
        ;;
    --security-log | --record | --token-file | --oauth | --socket)
        COMPREPLY=($(compgen -f -- "$cur"))
        compopt -o filenames 2>/dev/null || true
        return
        ;;
    --policy | --config)
        _glovebox_files json
        return
        ;;
    --allow)
        compopt -o nospace 2>/dev/null || true
        options='console timers fetch= file= crypto env= functions='
        ;;
    --preload)
        _glovebox_files js
        return
        ;;
    --from)
        _glovebox_files json toml
        COMPREPLY+=($(compgen -W 'claude claude-code cursor vscode codex' -- "$cur"))
        return
        ;;
    --dataset | --secret | --name | --show) return ;;
    --examples) options='patterns values none' ;;
    --html)
        _glovebox_files html
        return
        ;;
    --min) options='A B C D F' ;;
    --form) options='function execute body script' ;;
    --require) options='default strict' ;;
    --jit) options='full baseline off long' ;;
    --globals) options='standard minimal' ;;
    --speculation) options='default guarded' ;;
    --runner) options='process memory nats://' ;;
    --creds | --tls-ca | --datasets)
        _glovebox_files creds pem
        return
        ;;
    --color) options='auto always never' ;;
    --nats | --max-workers | --max-engines | --dataset-bytes | --total-memory | --total-cpu | --worker-uid | --http | --path | --otlp | --timeout | --cpu | --memory | --max-output | --params | --seed | --now) return ;;
    *)
        case $command in
        run)
            options="--file --data --dataset --preload --form --params --seed --now --timeout --cpu
                --memory --max-output --json --logs --security-log --record
                --record-input $policy $engine $common"
            ;;
        replay)
            if [[ $cur != -* ]]; then
                _glovebox_files jsonl
                return
            fi
            options="--data --dataset --preload --timeout --require --jit --json --logs $common"
            ;;
        check)
            if [[ $cur != -* ]]; then
                _glovebox_files js mjs
                return
            fi
            options="--form --json $policy $common"
            ;;
        audit)
            if [[ $cur != -* ]]; then
                _glovebox_files js mjs ts tgz
                return
            fi
            options="--json --sarif --html --min $common"
            ;;
        'mcp allow' | 'mcp deny') options="--config --yes --trust-files $common" ;;
        'mcp login') options="--config --no-browser --trust-files $common" ;;
        'mcp logout') options="--config --trust-files $common" ;;
        'mcp import') options="--from --config --dry-run --trust-files $common" ;;
        'mcp doctor') options="--config --json --trust-files $common" ;;
        mcp)
            options="--data --examples --show --preload --config --http --socket --path
                --token-file --oauth --tls-cert --tls-key --behind-proxy --timeout --cpu --memory --max-output --console --security-log --otlp $policy $engine $common"
            ;;
        runner)
            options="$nats --max-workers --max-engines --datasets --dataset-bytes --policy
                --trust-files --security-log --timeout --cpu --memory --max-output $engine $common"
            ;;
        runners) options="$nats --json $common" ;;
        doctor) options="--json --attack --nats $engine $common" ;;
        bench) options="--json $engine $common" ;;
        help) options="run replay check audit mcp runner runners doctor bench help version exit-status $common" ;;
        version) options=$common ;;
        esac
        ;;
    esac
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
}

complete -F _glovebox glovebox
