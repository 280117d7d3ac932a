# What every interface ships, for scripts that read this file in the project's folder. The files shipped.txt have lines of three words:
#   library NAME FILE  a library: its name as it is installed, and the file of Cargo's build; `-`: the interface's own build.sh makes it
#   link NAME TO       another name of a library that stands before it
#   archive NAME -     a library for static linking, made by build.sh
# The command (`parvum add --push`), MPI and the tests read the same files. A new interface is named in no other list.

# shipped WHAT: the other two words of all lines of that kind.
shipped() { cat crates/engine/runtime/shipped.txt interfaces/*/shipped.txt lab/shipped.txt | sed -n "s/^$1 //p"; }

# Headers and pkg-config files of all interfaces and of the engine.
shipped_headers() { ls interfaces/*/include/*.h interfaces/*/include/*.hpp crates/engine/runtime/include/*.h crates/engine/api/include/*.h; }
shipped_pc() { ls interfaces/*/pkgconfig/*.pc crates/engine/runtime/pkgconfig/*.pc; }

# filled FILE: its text, with the release and the list of libraries in their places.
filled() {
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
    libraries=$(shipped library | sed 's/ .*//' | tr '\n' ' ')
    sed "s/@VERSION@/$version/; s/@LIBRARIES@/${libraries% }/" "$1"
}
