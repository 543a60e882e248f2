# Derives texts of catenary/ops: the functions of complex128 from those of complex64, and float32's special functions from float64's.
# kernels.cmake includes this file. `cmake -DOUTPUT=FOLDER -P cmake/derived_ops.cmake` writes the texts to a folder.

# A generated file is written only if it changes, because writing it recompiles its users.
function(write_if_new path content)
  set(before "")
  if(EXISTS ${path})
    file(READ ${path} before)
  endif()
  if(NOT before STREQUAL content)
    file(WRITE ${path} "${content}")
  endif()
endfunction()

# The families of special functions of which only float64's text exists, ops/special_FAMILY.inc. In float32 each literal gets an f.
set(single_families bessel integrals elliptic gamma incomplete distributions wright_zeta)

# derive_ops(ROOT OUTPUT): writes OUTPUT/catenary/ops/….inc, and sets `derived_ops` to their paths.
function(derive_ops root output)
  file(READ ${root}/catenary/ops/complex.inc text)
  string(FIND "${text}" "// ----" of_each_type)
  string(SUBSTRING "${text}" ${of_each_type} -1 text)
  string(REPLACE "f32" "f64" text "${text}")
  string(REPLACE "F32" "F64" text "${text}")
  string(REPLACE "c64" "c128" text "${text}")
  string(PREPEND text "#ifdef CT_HAS_F64\n")
  string(APPEND text "#endif\n")
  set(paths ${output}/catenary/ops/complex128.inc)
  write_if_new(${paths} "${text}")
  foreach(family IN LISTS single_families)
    file(READ ${root}/catenary/ops/special_${family}.inc text)
    string(REPLACE "#ifdef CT_HAS_F64\n" "" text "${text}")
    string(REPLACE "#endif  // CT_HAS_F64\n" "" text "${text}")
    string(REPLACE "f64" "f32" text "${text}")
    string(REPLACE "F64" "F32" text "${text}")
    string(REGEX REPLACE "([0-9]+\\.[0-9]*(e[-+]?[0-9]+)?)" "\\1f" text "${text}")
    set(path ${output}/catenary/ops/special_${family}_f32.inc)
    write_if_new(${path} "${text}")
    list(APPEND paths ${path})
  endforeach()
  set(derived_ops ${paths} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  derive_ops(${CMAKE_CURRENT_LIST_DIR}/.. ${OUTPUT})
endif()
