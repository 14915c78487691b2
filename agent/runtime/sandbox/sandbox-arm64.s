// The program of the sandbox container for arm64. See sandbox-amd64.s.

        .text
        .globl  _start
image:
        .byte   0x7f, 'E', 'L', 'F', 2, 1, 1, 0        // 64 bits, little-endian
        .quad   0
        .short  2, 183                                 // ET_EXEC, EM_AARCH64
        .long   1
        .quad   _start
        .quad   segment - image
        .quad   0
        .long   0
        .short  64, 56, 1, 0, 0, 0
segment:
        .long   1, 5                                   // PT_LOAD, readable and executable
        .quad   0, image, image, end - image, end - image, 0x10000

_start:
        mov     x0, #0                                 // rt_sigprocmask(SIG_BLOCK, signals, NULL, 8)
        adr     x1, signals
        mov     x2, #0
        mov     x3, #8
        mov     x8, #135
        svc     #0
wait:
        adr     x0, signals                            // rt_sigtimedwait(signals, NULL, NULL, 8)
        mov     x1, #0
        mov     x2, #0
        mov     x3, #8
        mov     x8, #137
        svc     #0
        tbnz    w0, #31, wait                          // interrupted
        cmp     w0, #17                                // SIGCHLD
        b.ne    leave
reap:
        mov     x0, #-1                                // wait4(-1, NULL, WNOHANG, NULL)
        mov     x1, #0
        mov     x2, #1
        mov     x3, #0
        mov     x8, #260
        svc     #0
        cmp     w0, #0
        b.gt    reap
        b       wait
leave:
        mov     x0, #0                                 // exit_group(0)
        mov     x8, #94
        svc     #0

        .balign 8
signals:
        .quad   1 << (2 - 1) | 1 << (15 - 1) | 1 << (17 - 1)   // SIGINT, SIGTERM, SIGCHLD
end:
