# SPDX-License-Identifier: MIT
# cmake -DINPUT=x.js -DOUTPUT=x.c -DSYMBOL=name -P embed.cmake: a text as a C array that
# ends in NUL. An array and not a literal: C promises no more than 4,095 characters.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x[89a-f].)," "(char)\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
get_filename_component(name ${INPUT} NAME)
file(WRITE ${OUTPUT} "/* Generated from ${name}. */\n"
    "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {\n${bytes}0};\n")
