#!/bin/sh
# Makes everything that a release publishes, from the last commit, in build/release:
#   parvum-VERSION-cp310-abi3-manylinux_*.whl  the Python package with the command, libraries and headers inside
#   parvum_VERSION-1_ARCH.deb                  Debian's and Ubuntu's package
#   parvum-VERSION-linux-ARCH.tar.gz           a folder that works where it is unpacked
#   parvum-VERSION-docs.tar.gz                 the documentation site
#   parvum-VERSION.tar.gz                      the sources
#   parvum-VERSION.cdx.json, NOTICES           the Rust packages inside (SBOM), and their licences
#   SHA256SUMS
#
# usage: ./x release [--twice] [--try] [--without-docs]
#   --twice         build everything a second time, in another folder, and fail if a file differs
#   --try           install and use each file in a bare Debian 12 and a bare Ubuntu 24.04 (needs root and debootstrap)
#   --without-docs  leave the documentation site out (the site needs PyPI)
set -eu
export LC_ALL=C
umask 022

cd "$(dirname "$0")/.."
top=$(pwd -P)
target=${CARGO_TARGET_DIR:-$top/target}
result=$top/build/release

say() { printf '==> release: %s\n' "$*" >&2; }
fail() {
    printf 'release: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'help: %s\n' "$2" >&2
    exit 1
}

twice=no try=no docs=yes
for word; do
    case $word in
    --twice) twice=yes ;;
    --try) try=yes ;;
    --without-docs) docs=no ;;
    *) fail "unknown option $word" "./x release [--twice] [--try] [--without-docs]" ;;
    esac
done

# --- What a release is made from -------------------------------------------------------------------------------------

for tool in git python3 dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || fail "$tool is missing" "apt-get install git python3-venv dpkg-dev"
done
git rev-parse -q --verify HEAD >/dev/null 2>&1 || fail "$top is no Git clone, so the release has no commit" "git clone the repository, then ./x release"
[ -z "$(git status --porcelain)" ] || fail "the work tree has changes, and a release is made from a commit" "git stash, or git commit"
commit=$(git rev-parse HEAD)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architecture=$(uname -m)
# Archives and packages have the time of the commit, whenever they are made.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# --- Building --------------------------------------------------------------------------------------------------------

# tarball FILE FOLDER NAME: an archive of FOLDER/NAME that is the same each time.
tarball() {
    tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --directory "$2" "$3" | gzip -9n >"$1"
}

# make_release WORK RESULT: builds in the folder WORK, and puts all files into RESULT.
make_release() {
    work=$1 to=$2
    rm -rf "$work/source" "$to"
    mkdir -p "$work" "$to"
    git clone -q --no-hardlinks "$top" "$work/source"
    git -C "$work/source" checkout -q --detach "$commit"
    # The date of the commit counts, not the time of the clone, and no path of this machine is in the files.
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    (
        cd "$work/source"
        export CARGO_TARGET_DIR="$work/target"
        export RUSTFLAGS="--remap-path-prefix=$work/source=/parvum --remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$work/target=/target"
        maps="-ffile-prefix-map=$work/source=/parvum"
        export CFLAGS="$maps" FFLAGS="$maps" CXXFLAGS="$maps"
        ./x build --product
        mkdir -p build/share/doc
        python3 tools/notices.py build/share/doc/sbom.cdx.json build/share/doc/NOTICES >&2
        [ $docs = no ] || ./x docs >&2
        sh tools/wheel.sh >&2
        sh tools/deb.sh >&2
        prefix=$work/prefix name=parvum-$version-linux-$architecture
        rm -rf "$prefix"
        mkdir -p "$prefix"
        sh tools/install.sh install build "$prefix/$name"
        for file in "$prefix/$name/bin/parvum" "$prefix/$name"/lib/*.so.*; do
            [ -h "$file" ] || strip --strip-unneeded "$file"
        done
        tarball "$to/$name.tar.gz" "$prefix" "$name"
        [ $docs = no ] || {
            cp -r build/docs "build/parvum-$version-docs"
            tarball "$to/parvum-$version-docs.tar.gz" build "parvum-$version-docs"
        }
        git archive --format=tar --prefix="parvum-$version/" "$commit" | gzip -9n >"$to/parvum-$version.tar.gz"
        cp build/wheel/dist/*.whl build/deb/*.deb "$to/"
        cp build/share/doc/NOTICES "$to/NOTICES"
        cp build/share/doc/sbom.cdx.json "$to/parvum-$version.cdx.json"
    )
    (cd "$to" && sha256sum -- * >../SHA256SUMS.new && mv ../SHA256SUMS.new SHA256SUMS)
}

say "parvum $version, commit $(git log -1 --format='%h of %cs')"
make_release "$target/release-one" "$result"
if [ $twice = yes ]; then
    say "building a second time"
    make_release "$target/release-two-elsewhere" "$target/release-again"
    differing=$(diff "$result/SHA256SUMS" "$target/release-again/SHA256SUMS" | sed -n 's/^> [^ ]*  //p' | tr '\n' ' ')
    [ -z "$differing" ] || fail "two builds differ in: ${differing% }" "diffoscope build/release/FILE target/release-again/FILE"
    say "both builds are equal, byte for byte"
fi
if [ $try = yes ]; then
    BARE_FILES=$result sh tools/bare.sh sh tools/release-try.sh >&2
    BARE_FILES=$result BARE_MIRROR=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu} sh tools/bare.sh --ubuntu sh tools/release-try.sh >&2
fi
(cd "$result" && ls -l | awk 'NR > 1 { printf "%10.1f MB  %s\n", $5 / 1e6, $NF }')
say "all files are in $result; docs/releasing.md says how to publish and sign them"
