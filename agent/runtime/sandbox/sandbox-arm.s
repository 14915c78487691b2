@ The program of the sandbox container for 32-bit ARM, also for processors before ARMv7. See sandbox-amd64.s.

        .arch   armv6
        .arm
        .text
        .globl  _start
image:
        .byte   0x7f, 'E', 'L', 'F', 1, 1, 1, 0        @ 32 bits, little-endian
        .word   0, 0
        .short  2, 40                                  @ ET_EXEC, EM_ARM
        .word   1
        .word   _start
        .word   segment - image
        .word   0
        .word   0x05000000                             @ EABI 5
        .short  52, 32, 1, 0, 0, 0
segment:
        .word   1                                      @ PT_LOAD
        .word   0, image, image, end - image, end - image
        .word   5                                      @ readable and executable
        .word   0x10000

_start:
        mov     r0, #0                                 @ rt_sigprocmask(SIG_BLOCK, signals, NULL, 8)
        adr     r1, signals
        mov     r2, #0
        mov     r3, #8
        mov     r7, #175
        svc     #0
wait:
        adr     r0, signals                            @ rt_sigtimedwait(signals, NULL, NULL, 8)
        mov     r1, #0
        mov     r2, #0
        mov     r3, #8
        mov     r7, #177
        svc     #0
        cmp     r0, #0
        blt     wait                                   @ interrupted
        cmp     r0, #17                                @ SIGCHLD
        bne     leave
reap:
        mvn     r0, #0                                 @ wait4(-1, NULL, WNOHANG, NULL)
        mov     r1, #0
        mov     r2, #1
        mov     r3, #0
        mov     r7, #114
        svc     #0
        cmp     r0, #0
        bgt     reap
        b       wait
leave:
        mov     r0, #0                                 @ exit_group(0)
        mov     r7, #248
        svc     #0

        .balign 8
signals:
        .quad   1 << (2 - 1) | 1 << (15 - 1) | 1 << (17 - 1)   @ SIGINT, SIGTERM, SIGCHLD
end:
