# Parvum for CMake: find_package(Parvum), then link with Parvum::pvm3 (C), Parvum::gpvm3 (groups) or Parvum::fpvm3
# (Fortran), Parvum::nx, Parvum::cmmd, Parvum::Tmk, Parvum::mpi, Parvum::containers, and with Parvum::parvum for parvum.h. Everything is found from where this file lies, so that the installation may be moved.

get_filename_component(Parvum_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

# The groups are in libpvm3 too: both names are one file, which says that it is libpvm3.
separate_arguments(_parvum_libraries UNIX_COMMAND "@LIBRARIES@ libgpvm3.so.3")
foreach(_parvum_library ${_parvum_libraries})
  string(REGEX REPLACE "^lib(.*)\\.so\\..*" "\\1" _parvum_name ${_parvum_library})
  if(NOT TARGET Parvum::${_parvum_name})
    add_library(Parvum::${_parvum_name} SHARED IMPORTED)
    set_target_properties(Parvum::${_parvum_name} PROPERTIES
      IMPORTED_LOCATION "${Parvum_PREFIX}/lib/${_parvum_library}" IMPORTED_SONAME ${_parvum_library}
      INTERFACE_INCLUDE_DIRECTORIES "${Parvum_PREFIX}/include")
  endif()
endforeach()
set_target_properties(Parvum::gpvm3 PROPERTIES IMPORTED_SONAME libpvm3.so.3 INTERFACE_LINK_LIBRARIES Parvum::pvm3)
set_target_properties(Parvum::fpvm3 PROPERTIES INTERFACE_LINK_LIBRARIES Parvum::gpvm3)
# For the other binary interface of MPI the header must know.
set_target_properties(Parvum::mpi_abi PROPERTIES INTERFACE_COMPILE_DEFINITIONS MPI_ABI)
unset(_parvum_libraries)
unset(_parvum_library)
unset(_parvum_name)

set(Parvum_COMMAND "${Parvum_PREFIX}/bin/parvum")
