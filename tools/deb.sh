#!/bin/sh
# Makes Debian's package of what `./x build` made: the command, the libraries, headers, the manual and the Python package.
#
# usage: tools/deb.sh                   (`./x deb` builds first)
#        tools/deb.sh stage BUILD ROOT  no more than the package's files, of the build tree BUILD
#
# Everything lies in /usr/lib/parvum, a prefix of its own as `./x install` makes it, so that PVM and other MPIs of Debian's may be installed
# beside it: they have files of the same names. In the places where all look are the command, its page, and the module of Debian's python3.
# The package lies in build/deb.
set -eu
export LC_ALL=C

cd "$(dirname "$0")/.."
build=$(pwd -P)/build
stage=$build/deb
root=$stage/root
prefix=usr/lib/parvum
site=usr/lib/python3/dist-packages

say() { printf '%s\n' "$*"; }
fail() {
    printf 'deb: %s\n' "$*" >&2
    exit 1
}
# --- Files -----------------------------------------------------------------------------------------------------------

# make_root BUILD ROOT: the files of the package.
make_root() {
    mkdir -p "$2/usr/lib" "$2/usr/bin" "$2/usr/share/doc" "$2/usr/share/man/man1"
    DESTDIR=$2 sh tools/install.sh install "$1" "/$prefix"
    # dpkg keeps the list.
    rm "$2/$prefix/share/parvum/manifest"
    mv "$2/$prefix/share/doc/parvum" "$2/usr/share/doc/parvum"
    rmdir "$2/$prefix/share/doc"
    # Debian has licences in one file.
    rm "$2/usr/share/doc/parvum/LICENSE-MIT" "$2/usr/share/doc/parvum/LICENSE-APACHE"
    mv "$2/usr/share/doc/parvum/CHANGELOG.md" "$2/usr/share/doc/parvum/changelog"
    # Libraries are not executed.
    find "$2/$prefix/lib" -type f -exec chmod 644 {} +
    find "$2/$prefix/share/man" -type f -exec gzip -9n {} +
    ln -s ../lib/parvum/bin/parvum "$2/usr/bin/parvum"
    ln -s ../../../lib/parvum/share/man/man1/parvum.1.gz "$2/usr/share/man/man1/parvum.1.gz"
    DESTDIR=$2 sh tools/module.sh "$1" "/$site" "/$prefix"
}
umask 022
if [ "${1:-}" = stage ]; then
    make_root "$2" "$3"
    exit
fi

command -v dpkg-deb >/dev/null || fail "there is no dpkg-deb here; packages are made on Debian and its kin"
command -v dpkg-shlibdeps >/dev/null || fail "dpkg-shlibdeps is missing; as root: apt-get install dpkg-dev"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
architecture=$(dpkg --print-architecture)
# Who makes the package answers for it.
maintainer="${DEBFULLNAME:-The Parvum developers} <${DEBEMAIL:-parvum@localhost}>"

rm -rf "$stage"
mkdir -p "$root/DEBIAN"
make_root "$build" "$root"
for file in "$root/$prefix"/bin/parvum "$root/$prefix"/lib/*.so.*; do [ -h "$file" ] || strip --strip-unneeded "$file"; done
strip --strip-unneeded "$root/$site/parvum/_parvum.abi3.so"
cat >"$root/usr/share/doc/parvum/changelog.Debian" <<CHANGES
parvum ($version-1) unstable; urgency=medium

  * As tools/deb.sh makes it; what has changed in Parvum is in changelog.gz.

 -- $maintainer  $(date -R -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}")
CHANGES
gzip -9n "$root"/usr/share/doc/parvum/changelog*

# --- What dpkg is told -----------------------------------------------------------------------------------------------

cat >"$root/usr/share/doc/parvum/copyright" <<COPYRIGHT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Parvum

Files: *
Copyright: $(sed -n 's/^Copyright (c) //p' LICENSE-MIT | head -n 1)
License: MIT or Apache-2.0

License: MIT
$(sed '1,/^Copyright/d; s/^$/./; s/^/ /' LICENSE-MIT | sed '1{/^ \.$/d}')

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
COPYRIGHT

# Which packages have the libraries that ours need.
mkdir -p "$stage/debian"
echo "Source: parvum" >"$stage/debian/control"
needs=$(cd "$stage" && dpkg-shlibdeps -O --ignore-missing-info -l"root/$prefix/lib" "root/$prefix/bin/parvum" "root/$prefix"/lib/*.so.* "root/$site/parvum/_parvum.abi3.so" 2>"$stage/shlibdeps.log" | sed -n 's/^shlibs:Depends=//p')
[ -n "$needs" ] || { cat "$stage/shlibdeps.log" >&2; fail "dpkg-shlibdeps does not say what the libraries need"; }

cat >"$root/DEBIAN/control" <<CONTROL
Package: parvum
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Section: science
Priority: optional
Installed-Size: $(du -k -s --apparent-size "$root" | cut -f 1)
Depends: $needs
Recommends: python3, openssh-client
Suggests: python3-numpy, gcc, gfortran
Description: many machines, or the cores of one, as one parallel virtual machine
 Parvum runs message-passing programs in C, C++, Fortran, Rust and Python on the
 cores of a host, or on many hosts, which come and go while programs run.
 .
 The package has the command parvum, the libraries and headers of all interfaces,
 of PVM and MPI among them, the manual, and the Python package parvum. A shell
 uses them after: eval "\$(parvum env)".
CONTROL

# What Python compiles is in no list of dpkg's.
cat >"$root/DEBIAN/postinst" <<'SCRIPT'
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v py3compile >/dev/null; then
    py3compile -p parvum
fi
SCRIPT
cat >"$root/DEBIAN/prerm" <<'SCRIPT'
#!/bin/sh
set -e
if command -v py3clean >/dev/null; then
    py3clean -p parvum
else
    find /usr/lib/python3/dist-packages/parvum -type d -name __pycache__ -exec rm -r {} +
fi
SCRIPT
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
(cd "$root" && find usr -type f -exec md5sum {} + | sort -k 2) >"$root/DEBIAN/md5sums"

deb=$stage/parvum_$version-1_$architecture.deb
dpkg-deb --root-owner-group --build -Zxz "$root" "$deb" >/dev/null
say "==> $deb, $(du -k "$deb" | cut -f 1) KiB; install it with: apt-get install $deb"
