#!/bin/sh
# Installs what `./x build` made, and takes it away again.
#   install.sh install BUILD PREFIX      copies the build tree BUILD into PREFIX (below DESTDIR, when that is set)
#   install.sh uninstall PREFIX          removes every file and directory that was installed, and no other
# What was installed stands in PREFIX/share/parvum/manifest. Nothing in the files names PREFIX: a tree may be moved.
set -eu

fail() {
    printf 'install: %s\n' "$*" >&2
    exit 1
}

# in_root PREFIX: sets `root`, the directory that stands for PREFIX.
in_root() {
    case $1 in
    /*) ;;
    *) fail "$1 is no absolute path; name the prefix from the root, as /usr/local" ;;
    esac
    root=${DESTDIR:-}${1%/}
    manifest=$root/share/parvum/manifest
}

uninstall() {
    [ -f "$manifest" ] || fail "$root has no Parvum that this script installed ($manifest is missing)"
    # Directories stand before what is in them, so they go in the opposite order, and only when nothing else is there.
    reversed=$(sed '1!G;h;$!d' "$manifest")
    printf '%s\n' "$reversed" | while IFS= read -r name; do
        case $name in
        */) rmdir "$root/$name" 2>/dev/null || [ ! -d "$root/$name" ] || echo "kept $root/$name: not empty" ;;
        *) rm -f "$root/$name" ;;
        esac
    done
}

# --- What lies where -------------------------------------------------------------------------------------------------

# Lines of three words: where to, mode, and the file; for a link its mode is `->`, and what it points to comes last. Pages that were
# made, some hundreds, have the mode `page`, and files of the site `site`: they are copied all at once.
plan() {
    echo "bin/parvum 755 $build/bin/parvum"
    echo "bin/pvmgetarch 755 packaging/pvmgetarch"
    echo "bin/mpicc 755 packaging/mpicc"
    for name in mpicxx mpic++ mpicc_abi mpicxx_abi mpifort mpif77 mpif90; do echo "bin/$name -> mpicc"; done
    for name in pvm pvmd pvmd3 mpiexec mpirun; do echo "bin/$name -> parvum"; done
    shipped library | while read -r name _; do echo "lib/$name 755 $build/lib/$name"; done
    shipped archive | while read -r name _; do echo "lib/$name 644 $build/lib/$name"; done
    shipped link | while read -r name to; do echo "lib/$name -> $to"; done
    # Made where there was a Fortran compiler, and for that one.
    for name in mpi.mod mpi_f08.mod; do
        [ ! -f "$build/include/$name" ] || echo "include/$name 644 $build/include/$name"
    done
    for file in $(shipped_headers); do echo "include/${file##*/} 644 $file"; done
    # Made of the description of MPI.
    for name in mpi_functions.h mpif.h; do echo "include/$name 644 $build/include/$name"; done
    for file in $(shipped_pc); do echo "lib/pkgconfig/${file##*/} 644 $file"; done
    for file in packaging/cmake/*.cmake; do echo "lib/cmake/Parvum/${file##*/} 644 $file"; done
    for file in man/man*/*; do echo "share/$file 644 $file"; done
    # Those that were made: the others there are links.
    for file in "$build"/share/man/man3/*; do
        [ -h "$file" ] || [ ! -f "$file" ] || echo "share/man/man3/${file##*/} page $file"
    done
    # Programs that `parvum compare` and `parvum lesson` build and measure, and scripts that install the systems to compare with.
    for file in $(find apps -type f ! -name '*.pyc' | sort); do
        mode=644
        [ ! -x "$file" ] || mode=755
        echo "share/parvum/$file $mode $file"
    done
    for name in peers.sh peers-python.sh shuttle.py; do echo "share/parvum/$name 644 tools/$name"; done
    # Made for a release.
    for name in NOTICES sbom.cdx.json; do
        [ ! -f "$build/share/doc/$name" ] || echo "share/doc/parvum/$name 644 $build/share/doc/$name"
    done
    for file in README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE-MIT LICENSE-APACHE $(find docs -name '*.md' -o -path 'docs/pictures/*' | sort) tools/tsan.supp examples/*.* examples/python/*; do
        echo "share/doc/parvum/$file 644 $file"
    done
    # The site, if `./x docs` has made it: some thousands of files, which are copied all at once.
    [ ! -f "$build/docs/index.html" ] ||
        (cd "$build/docs" && find . -type f | sed -n "s,^\./\(.*\),share/doc/parvum/html/\1 site $build/docs/\1,p" | sort)
}

# directory NAME: makes it with its parents, and notes those that were not there.
directory() {
    [ ! -d "$root/$1" ] || return 0
    case $1 in
    */*) directory "${1%/*}" ;;
    esac
    mkdir "$root/$1"
    echo "$1/" >>"$manifest"
}

# file TO MODE FROM: copies it; what has a place in it is filled in.
file() {
    if grep -qI '@VERSION@\|@LIBRARIES@' "$3"; then
        filled "$3" >"$root/$1.new"
    else
        cp "$3" "$root/$1.new"
    fi
    chmod "$2" "$root/$1.new"
    mv "$root/$1.new" "$root/$1"
}

install() {
    [ -x "$build/bin/parvum" ] || fail "$build has no bin/parvum; build first: ./x build"
    [ ! -f "$manifest" ] || uninstall
    # Whose file it is, only its owner knows.
    plan | while IFS=' ' read -r to _; do
        if [ -e "$root/$to" ] || [ -h "$root/$to" ]; then
            fail "$root/$to is there, and not from an installed Parvum; remove it, or choose another prefix"
        fi
    done
    umask 022
    mkdir -p "$root"
    noted=
    for name in share share/parvum; do
        [ -d "$root/$name" ] || {
            mkdir "$root/$name"
            noted="$noted$name/
"
        }
    done
    printf '%s' "$noted" >"$manifest"
    echo share/parvum/manifest >>"$manifest"
    plan | while IFS=' ' read -r to mode from; do
        directory "${to%/*}"
        echo "$to" >>"$manifest"
        case $mode in
        '->') ln -s "$from" "$root/$to" ;;
        page | site) ;;
        *) file "$to" "$mode" "$from" ;;
        esac
    done
    pages=$(plan | sed -n 's/^[^ ]* page //p')
    if [ -n "$pages" ]; then
        printf '%s\n' "$pages" | tr '\n' '\0' | xargs -0 cp -t "$root/share/man/man3"
        printf '%s\n' "$pages" | sed 's,.*/,,' | tr '\n' '\0' | (cd "$root/share/man/man3" && xargs -0 chmod 644)
    fi
    if [ -f "$build/docs/index.html" ]; then
        cp -R "$build/docs/." "$root/share/doc/parvum/html"
        chmod -R u=rwX,go=rX "$root/share/doc/parvum/html"
    fi
    tell_the_loader
}

# In a prefix of the system's the loader finds libraries by its cache, which knows of new ones only when told.
tell_the_loader() {
    [ -z "${DESTDIR:-}" ] || return 0
    case $root in
    /usr | /usr/local) ;;
    *) return 0 ;;
    esac
    loader=$(PATH=$PATH:/usr/sbin:/sbin command -v ldconfig) || loader=
    if [ -n "$loader" ] && [ "$(id -u)" = 0 ]; then
        "$loader"
    else
        printf 'install: programs find the libraries after `ldconfig`, which root must call\n' >&2
    fi
}

case ${1:-}:$# in
install:3)
    build=$(cd "$2" && pwd)
    in_root "$3"
    cd "$(dirname "$0")/.."
    # shellcheck source=tools/shipped.sh
    . tools/shipped.sh
    install
    ;;
uninstall:2)
    in_root "$2"
    uninstall
    tell_the_loader
    ;;
*)
    fail "usage: install.sh install BUILD PREFIX | uninstall PREFIX"
    ;;
esac
