#!/bin/sh
# Puts the Python package parvum where a Python looks for packages, beside a Parvum that is installed elsewhere.
#   module.sh BUILD SITE PREFIX      from the build tree BUILD into SITE (below DESTDIR, when that is set); Parvum is in PREFIX
set -eu
[ $# -eq 3 ] || {
    echo "usage: module.sh BUILD SITE PREFIX" >&2
    exit 1
}
cd "$(dirname "$0")/.."
build=$1 prefix=$3
package=${DESTDIR:-}$2/parvum
umask 022
mkdir -p "$package"
(cd python/parvum && tar cf - --exclude=__pycache__ .) | (cd "$package" && tar xf - --no-same-owner)
cp -L "$build/python/parvum/_parvum.abi3.so" "$package/"
chmod 644 "$package/_parvum.abi3.so"
for folder in bin lib include; do ln -s "$(realpath -m --relative-to="$2/parvum" "$prefix/$folder")" "$package/$folder"; done
