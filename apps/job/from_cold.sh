#!/bin/sh
# from-cold LAUNCHER ARGUMENT...: a job where nothing of its system runs yet, and after which nothing of it does. MPI's launchers
# begin and end so by themselves; Parvum's and PVM's daemons are started and ended with the job, in a place of their own.
case ${1##*/} in
parvum)
    PARVUM_DIR=$(mktemp -d) || exit 1
    export PARVUM_DIR
    "$@"
    code=$?
    "$1" down >/dev/null || code=1
    rmdir "$PARVUM_DIR" 2>/dev/null || rm -r "$PARVUM_DIR"
    exit "$code"
    ;;
*.pvm346)
    export PVM_VMID="cold$$"
    echo quit | pvm >/dev/null || exit 1
    "$@"
    code=$?
    # The console is the daemon's child, and ends with it.
    echo halt | pvm >/dev/null 2>&1
    exit "$code"
    ;;
*) exec "$@" ;;
esac
