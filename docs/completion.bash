# bash completion for hone; made by 'hone help --completion'
_hone()
{
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options= kind=
    local commands="init check run tune attach stop resume ls show logs best plot importance replay compare diff rerun export import serve knowledge tag note star rm gc doctor help version"
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$commands" -- "$word"))
        return
    fi
    case $command in
    init) kind=files options=" --home --json --help" ;;
    check) kind=files options=" --home --json --help --fix --param --set --name --trials --parallel --seed --time --minimize --maximize" ;;
    run) kind=files options=" --home --json --help --fix --param --set --name --trials --parallel --seed --time --minimize --maximize --detach" ;;
    tune) kind=files options=" --home --json --help --system --target --average --fixed --fix --param --set --name --trials --parallel --seed --time --minimize --maximize --detach" ;;
    attach) kind=names options=" --home --json --help" ;;
    stop) kind=names options=" --home --json --help --drain" ;;
    resume) kind=names options=" --home --json --help --detach --trials" ;;
    ls) kind=names options=" --home --json --help --limit --all --state --where --sort --desc" ;;
    show) kind=names options=" --home --json --help" ;;
    logs) kind=names options=" --home --json --help --follow --attempt --stdout --stderr --tail" ;;
    best) kind=names options=" --home --json --help --number --where" ;;
    plot) kind=names options=" --home --json --help --svg --width --height --ascii" ;;
    importance) kind=names options=" --home --json --help --objective" ;;
    replay) kind=names options=" --home --json --help --search --stop --seeds" ;;
    compare) kind=names options=" --home --json --help" ;;
    diff) kind=names options=" --home --json --help --all --patch" ;;
    rerun) kind=names options=" --home --json --help" ;;
    export) kind=names options=" --home --json --help --csv --jsonl --metrics --iterations --summary --where --follow --influx --db --org --bucket --user --tags --output" ;;
    import) kind=files options=" --home --json --help --name --study --objective --ignore" ;;
    serve) kind=none options=" --home --json --help --port --address --udp" ;;
    knowledge) kind=files options=" --home --json --help --all" ;;
    tag) kind=names options=" --home --json --help --remove" ;;
    note) kind=names options=" --home --json --help --clear" ;;
    star) kind=names options=" --home --json --help --off" ;;
    rm) kind=names options=" --home --json --help --yes" ;;
    gc) kind=none options=" --home --json --help --dry-run" ;;
    doctor) kind=none options=" --home --json --help --store" ;;
    help) kind=commands options=" --home --json --help --man --completion --markdown --spec" ;;
    version) kind=none options=" --home --json --help" ;;
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
