# Parvum for CMake: find_package(Parvum), then link with Parvum::pvm3 (C), Parvum::gpvm3 (groups) or Parvum::fpvm3
# (Fortran), Parvum::nx, Parvum::cmmd, Parvum::Tmk, Parvum::mpi, Parvum::containers, and with Parvum::parvum for parvum.h. Everything is found from where this file lies, so that the installation may be moved.

get_filename_component(Parvum_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

foreach(_parvum_library pvm3 gpvm3 fpvm3)
  if(NOT TARGET Parvum::${_parvum_library})
    add_library(Parvum::${_parvum_library} SHARED IMPORTED)
    set_target_properties(Parvum::${_parvum_library} PROPERTIES
      IMPORTED_LOCATION "${Parvum_PREFIX}/lib/lib${_parvum_library}.so.3"
      INTERFACE_INCLUDE_DIRECTORIES "${Parvum_PREFIX}/include")
  endif()
endforeach()
if(NOT TARGET Parvum::parvum)
  add_library(Parvum::parvum SHARED IMPORTED)
  set_target_properties(Parvum::parvum PROPERTIES
    IMPORTED_LOCATION "${Parvum_PREFIX}/lib/libparvum.so.0" IMPORTED_SONAME libparvum.so.0
    INTERFACE_INCLUDE_DIRECTORIES "${Parvum_PREFIX}/include")
endif()
foreach(_parvum_library nx.so.1 cmmd.so.1 Tmk.so.1 mpi.so.12 containers.so.0)
  string(REGEX REPLACE "\\..*" "" _parvum_name ${_parvum_library})
  if(NOT TARGET Parvum::${_parvum_name})
    add_library(Parvum::${_parvum_name} SHARED IMPORTED)
    set_target_properties(Parvum::${_parvum_name} PROPERTIES
      IMPORTED_LOCATION "${Parvum_PREFIX}/lib/lib${_parvum_library}" IMPORTED_SONAME lib${_parvum_library}
      INTERFACE_INCLUDE_DIRECTORIES "${Parvum_PREFIX}/include")
  endif()
endforeach()
# The groups are in libpvm3 too: both names are one file, which says that it is libpvm3.
set_target_properties(Parvum::pvm3 PROPERTIES IMPORTED_SONAME libpvm3.so.3)
set_target_properties(Parvum::gpvm3 PROPERTIES IMPORTED_SONAME libpvm3.so.3 INTERFACE_LINK_LIBRARIES Parvum::pvm3)
set_target_properties(Parvum::fpvm3 PROPERTIES IMPORTED_SONAME libfpvm3.so.3 INTERFACE_LINK_LIBRARIES Parvum::gpvm3)
unset(_parvum_library)
unset(_parvum_name)

set(Parvum_COMMAND "${Parvum_PREFIX}/bin/parvum")
