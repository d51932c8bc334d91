#include "ring.h"

static size_t mask(const struct ring *ring, size_t place)
{
    return place & (ring->size - 1);
}

int ring_init(struct ring *ring, uint8_t *bytes, size_t size)
{
    if (size == 0 || (size & (size - 1)) != 0) {
        return -1; /* only a power of two can be masked */
    }
    ring->bytes = bytes;
    ring->size = size;
    ring->head = ring->tail = 0;
    return 0;
}

/* Writes what fits; the rest is lost, as an interrupt cannot wait. */
size_t ring_write(struct ring *ring, const uint8_t *from, size_t count)
{
    size_t done = 0;
    while (done < count && ring->head - ring->tail < ring->size) {
        ring->bytes[mask(ring, ring->head++)] = from[done++];
    }
    return done;
}

size_t ring_read(struct ring *ring, uint8_t *to, size_t count)
{
    size_t done = 0;
    while (done < count && ring->tail != ring->head) {
        to[done++] = ring->bytes[mask(ring, ring->tail++)];
    }
    return done;
}
