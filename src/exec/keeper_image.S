/* SPDX-License-Identifier: MIT */
/* The keeper program, carried inside hone: see keeper_image.c. */
    .section .rodata
    .global hone_keeper_image
    .global hone_keeper_image_end
    .balign 16
hone_keeper_image:
    .incbin KEEPER_PATH
hone_keeper_image_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
