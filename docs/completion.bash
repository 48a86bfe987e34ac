# bash completion for hone; made by 'hone help --completion'
_hone()
{
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options= kind=
    local commands="init check run tune submit attach stop pause resume queue ls show logs best plot importance replay compare diff report rerun export import serve open token knowledge tag note star rm gc doctor help version"
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$commands" -- "$word"))
        return
    fi
    case $command in
    init) kind=files options=" --home --server --token-file --ca --json --help" ;;
    check) kind=files options=" --home --server --token-file --ca --json --help --fix --param --set --name --trials --parallel --seed --time --priority --minimize --maximize" ;;
    run) kind=files options=" --home --server --token-file --ca --json --help --fix --param --set --name --trials --parallel --seed --time --priority --minimize --maximize --detach --port" ;;
    tune) kind=files options=" --home --server --token-file --ca --json --help --system --target --average --workers --fixed --fix --param --set --name --trials --parallel --seed --time --priority --minimize --maximize --detach --port" ;;
    submit) kind=files options=" --home --server --token-file --ca --json --help --fix --param --set --name --trials --parallel --seed --time --priority --minimize --maximize --key" ;;
    attach) kind=names options=" --home --server --token-file --ca --json --help" ;;
    stop) kind=names options=" --home --server --token-file --ca --json --help --drain" ;;
    pause) kind=names options=" --home --server --token-file --ca --json --help --freeze --all" ;;
    resume) kind=names options=" --home --server --token-file --ca --json --help --detach --all --trials" ;;
    queue) kind=names options=" --home --server --token-file --ca --json --help --priority" ;;
    ls) kind=names options=" --home --server --token-file --ca --json --help --limit --all --state --where --sort --desc" ;;
    show) kind=names options=" --home --server --token-file --ca --json --help" ;;
    logs) kind=names options=" --home --server --token-file --ca --json --help --follow --attempt --stdout --stderr --tail" ;;
    best) kind=names options=" --home --server --token-file --ca --json --help --number --where" ;;
    plot) kind=names options=" --home --server --token-file --ca --json --help --svg --width --height --ascii" ;;
    importance) kind=names options=" --home --server --token-file --ca --json --help --objective" ;;
    replay) kind=names options=" --home --server --token-file --ca --json --help --search --stop --seeds" ;;
    compare) kind=names options=" --home --server --token-file --ca --json --help" ;;
    diff) kind=names options=" --home --server --token-file --ca --json --help --all --patch" ;;
    report) kind=names options=" --home --server --token-file --ca --json --help --output" ;;
    rerun) kind=names options=" --home --server --token-file --ca --json --help" ;;
    export) kind=names options=" --home --server --token-file --ca --json --help --csv --jsonl --metrics --metric --system --iterations --summary --where --follow --influx --db --org --bucket --user --tags --output" ;;
    import) kind=files options=" --home --server --token-file --ca --json --help --name --study --objective --ignore" ;;
    serve) kind=none options=" --home --server --token-file --ca --json --help --port --address --udp --tls --name --behind-proxy --trust-local" ;;
    open) kind=names options=" --home --server --token-file --ca --json --help --print" ;;
    token) kind=none options=" --home --server --token-file --ca --json --help --role --expires" ;;
    knowledge) kind=files options=" --home --server --token-file --ca --json --help --all" ;;
    tag) kind=names options=" --home --server --token-file --ca --json --help --remove" ;;
    note) kind=names options=" --home --server --token-file --ca --json --help --clear" ;;
    star) kind=names options=" --home --server --token-file --ca --json --help --off" ;;
    rm) kind=names options=" --home --server --token-file --ca --json --help --yes" ;;
    gc) kind=none options=" --home --server --token-file --ca --json --help --dry-run" ;;
    doctor) kind=none options=" --home --server --token-file --ca --json --help --store" ;;
    help) kind=commands options=" --home --server --token-file --ca --json --help --man --completion --markdown --spec" ;;
    version) kind=none options=" --home --server --token-file --ca --json --help" ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) && return ;;
    esac
    case $kind in
    commands) COMPREPLY=($(compgen -W "$commands" -- "$word")) ;;
    names) COMPREPLY=($(compgen -W "last $(hone ls --limit 50 2>/dev/null |
        awk 'NR > 1 { print $1, $2 }')" -- "$word")) ;;
    files) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _hone hone
