# SPDX-License-Identifier: MIT
# cmake -DFROM_ADDON=file -DFROM_WORKER=file [-DFROM_RUNNER=file] -DTO=folder -P place.cmake: put
# what was built where the package looks for it. Renamed into place: a process may have the old one open.
string(TOLOWER "${CMAKE_HOST_SYSTEM_NAME}" system)
cmake_host_system_information(RESULT machine QUERY OS_PLATFORM)
if(machine STREQUAL "x86_64")
    set(machine x64)
elseif(machine STREQUAL "aarch64")
    set(machine arm64)
endif()
set(folder ${TO}/${system}-${machine})
file(MAKE_DIRECTORY ${folder})
foreach(file ${FROM_ADDON} ${FROM_WORKER} ${FROM_RUNNER})
    get_filename_component(name ${file} NAME)
    file(COPY_FILE ${file} ${folder}/${name}.new)
    file(RENAME ${folder}/${name}.new ${folder}/${name})
endforeach()
message(STATUS "${folder}: the addon and the worker program")
