#!/bin/sh
# Installs each file of a release and uses it as a new user would: tarball, package, wheel. Runs as root in a bare tree:
#
#   ./x release && BARE_FILES=build/release tools/bare.sh sh tools/release-try.sh
#   ./x release && BARE_FILES=build/release BARE_MIRROR=http://archive.ubuntu.com/ubuntu tools/bare.sh --ubuntu sh tools/release-try.sh
set -eu
files=/release
top=$(cd "$(dirname "$0")/.." && pwd -P)
work=$(mktemp -d)
cd "$work"

say() { printf '==> %s\n' "$*"; }
fail() {
    printf 'release-try: %s\n' "$*" >&2
    exit 1
}

# lines N COMMAND...: the command succeeds, and prints so many lines.
lines() {
    wanted=$1
    shift
    said=$("$@") || fail "$* failed: $said"
    [ "$(printf '%s\n' "$said" | wc -l)" -eq "$wanted" ] || fail "$* printed $said, and not $wanted lines"
}

# What every installed Parvum does; `mpicc` needs a compiler, which a bare system lacks.
use() {
    say "$1: $(parvum --version)"
    lines 4 parvum run -n 4 hostname
    lines 4 mpiexec -n 4 hostname
    if command -v gcc >/dev/null; then
        mpicc "$top/examples/hello_mpi.c" -o "hello-$2"
        # A line of each rank, and one of the sum.
        lines 5 mpiexec -n 4 "./hello-$2"
        # The benchmark programs are compiled on this host.
        parvum lesson buffers --budget 5 >/dev/null
        parvum compare -n 2 --budget 2 -- "./hello-$2" >/dev/null
    fi
    [ -s "$(parvum docs)" ] || fail "the pages are missing"
    parvum down
}

(cd "$files" && sha256sum --quiet --check SHA256SUMS) || fail "a file differs from SHA256SUMS"
export DEBIAN_FRONTEND=noninteractive

say "the tarball, with nothing else installed"
tar xzf "$files"/parvum-*-linux-*.tar.gz
# A folder that works where it is unpacked works where it is moved.
mv parvum-*-linux-* "moved here"
(
    eval "$("./moved here/bin/parvum" env)"
    use tarball tar
)
[ -s "moved here/share/doc/parvum/NOTICES" ] || fail "the tarball lacks the licences of what is inside"

say "the package"
# A bare Ubuntu names main alone. An installed Ubuntu names universe too, where python3-venv is.
if grep -qx 'ID=ubuntu' /etc/os-release; then
    sed -i 's/^\(deb .*\) main$/\1 main universe/' /etc/apt/sources.list
fi
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$files"/parvum_*.deb python3-venv gcc libc6-dev >/dev/null
(
    eval "$(parvum env)"
    use package deb
    parvum run -n 2 python3 -c 'import parvum; print(parvum.enrol().id)' | grep -c . | grep -qx 2
    lines 1 python3 -c 'import parvum; print(parvum.__name__)'
    python3 -m parvum demo >/dev/null
    parvum down
)
[ -s /usr/share/doc/parvum/NOTICES ] || [ -s /usr/share/doc/parvum/NOTICES.gz ] || fail "the package lacks the licences of what is inside"
apt-get remove -y -qq parvum >/dev/null
! command -v parvum >/dev/null || fail "parvum is there after the package was removed"

say "the wheel"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check "$(echo "$files"/*.whl)[all]"
(
    PATH=$work/environment/bin:$PATH
    use wheel whl
    python -m parvum demo >/dev/null
    parvum down
)
ls environment/lib/python3*/site-packages/parvum/share/NOTICES >/dev/null || fail "the wheel lacks the licences of what is inside"
say "tarball, package and wheel work"
