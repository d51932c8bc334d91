#ifndef RING_H
#define RING_H

#include <stddef.h>
#include <stdint.h>

/* A buffer of bytes between the scanner's interrupt and us: one writer, one reader. */
struct ring {
    uint8_t *bytes;
    size_t size; /* a power of two */
    size_t head;
    size_t tail;
};

int ring_init(struct ring *ring, uint8_t *bytes, size_t size);
size_t ring_write(struct ring *ring, const uint8_t *from, size_t count);
size_t ring_read(struct ring *ring, uint8_t *to, size_t count);

#endif
