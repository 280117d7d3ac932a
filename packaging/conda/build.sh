#!/bin/sh
# Run by conda's builder in the source tree: builds Parvum, and puts it into $PREFIX.
set -eu
./x build
# A prefix of its own, as in Debian's package: pvm and other MPIs may be installed beside it.
mkdir -p "$PREFIX/lib" "$PREFIX/bin"
sh tools/install.sh install build "$PREFIX/lib/parvum"
ln -s ../lib/parvum/bin/parvum "$PREFIX/bin/parvum"
sh tools/module.sh build "$SP_DIR" "$PREFIX/lib/parvum"
