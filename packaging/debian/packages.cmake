# Debian's packages, of components that CMakeLists.txt installs: libquire0, libquire-dev and python3-quire. make.sh sets
# QUIRE_DEBIAN, the folder in which it has prepared the Python package, the symbols and the documents.
if(NOT QUIRE_DEBIAN)
  message(FATAL_ERROR "Debian's packages are made by packaging/debian/make.sh.")
endif()

install(DIRECTORY "${QUIRE_DEBIAN}/python/" DESTINATION lib/python3/dist-packages COMPONENT python)
install(DIRECTORY "${QUIRE_DEBIAN}/command/bin/" DESTINATION bin COMPONENT python USE_SOURCE_PERMISSIONS)
install(DIRECTORY "${QUIRE_DEBIAN}/command/share/" DESTINATION share COMPONENT python)
set(packages library:libquire0 development:libquire-dev python:python3-quire)
foreach(pair ${packages})
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 component)
  list(GET pair 1 package)
  string(TOUPPER "${component}" upper)
  install(DIRECTORY "${QUIRE_DEBIAN}/documents/" DESTINATION "share/doc/${package}" COMPONENT ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "${package}")
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
endforeach()
install(DIRECTORY examples DESTINATION share/doc/libquire-dev COMPONENT development PATTERN __pycache__ EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library development python)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME quire)
set(CPACK_PACKAGE_CONTACT "Quire contributors <${QUIRE_CONTACT}>")
# A package of Debian's own would be newer.
set(CPACK_DEBIAN_PACKAGE_RELEASE 0quire1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_STRIP_FILES OFF)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(exact "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "object store with live, sectioned results")
set(about "An object store keeps an application's objects in a file, in the layout of
Core Data's SQLite files. Lists of them stay sorted, gathered in sections and
up to date, and report each change exactly.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${about}\n.\nThis package has the library.")
# CPack would find these by itself, and then also run ldconfig, for which Debian has triggers.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "${QUIRE_DEPENDS}")
# The laws of time zones change more often than ICU's data does.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS tzdata)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  "${QUIRE_DEBIAN}/symbols" "${QUIRE_DEBIAN}/shlibs" "${QUIRE_DEBIAN}/triggers")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${about}\n.\nThis package has the headers and examples.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libquire0 ${exact}")

set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "${about}\n.\nThis package is for Python 3, and has the command quire.")
# What tables need, and the browser. Debian 12 has no Textual that is new enough.
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-rich")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-textual (>= 6.0)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "libquire0 (>= ${PROJECT_VERSION}), libquire0 (<< ${QUIRE_NEXT}), python3:any (>= 3.9)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${QUIRE_DEBIAN}/postinst" "${QUIRE_DEBIAN}/prerm")
include(CPack)
