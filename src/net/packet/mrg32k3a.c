/* SPDX-License-Identifier: Apache-2.0 */
/* The recurrences and constants are those of the published generator (P. L'Ecuyer, 1999): jumping ahead by 2^k steps is
 * the k-fold square of a 3x3 matrix, worked out once. Products stay below 2^64 because all words are below 2^32. */
#include "net/packet/mrg32k3a.h"

#include <string.h>

static const uint64_t modulus[2] = {UINT64_C(4294967087), UINT64_C(4294944443)};

/* One step of each half: (x0, x1, x2) becomes (x1, x2, x3); negative coefficients are kept modulo the modulus. */
static const uint64_t step[2][3][3] = {
    {{0, 1, 0}, {0, 0, 1}, {UINT64_C(4294967087) - 810728, 1403580, 0}},
    {{0, 1, 0}, {0, 0, 1}, {UINT64_C(4294944443) - 1370589, 0, 527612}},
};

static void multiply(uint64_t a[3][3], uint64_t b[3][3], uint64_t m, uint64_t product[3][3])
{
    uint64_t result[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            uint64_t sum = 0;
            for (int k = 0; k < 3; k++) {
                sum = (sum + a[i][k] * b[k][j] % m) % m;
            }
            result[i][j] = sum;
        }
    }
    memcpy(product, result, sizeof result);
}

static void power(unsigned doublings, uint64_t matrix[2][3][3])
{
    memcpy(matrix, step, sizeof step);
    for (int half = 0; half < 2; half++) {
        for (unsigned i = 0; i < doublings; i++) {
            multiply(matrix[half], matrix[half], modulus[half], matrix[half]);
        }
    }
}

static void mrg32k3a_apply(uint64_t matrix[2][3][3], struct mrg32k3a *state)
{
    struct mrg32k3a moved;
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < 3; i++) {
            uint64_t sum = 0;
            for (int k = 0; k < 3; k++) {
                sum = (sum + matrix[half][i][k] * state->s[half * 3 + k] % modulus[half]) % modulus[half];
            }
            moved.s[half * 3 + i] = sum;
        }
    }
    *state = moved;
}

double mrg32k3a_uniform(struct mrg32k3a *generator)
{
    uint64_t *s = generator->s;
    uint64_t p1 = (1403580 * s[1] + (modulus[0] - 810728) * s[0] % modulus[0]) % modulus[0];
    uint64_t p2 = (527612 * s[5] + (modulus[1] - 1370589) * s[3] % modulus[1]) % modulus[1];
    s[0] = s[1];
    s[1] = s[2];
    s[2] = p1;
    s[3] = s[4];
    s[4] = s[5];
    s[5] = p2;
    uint64_t difference = p1 > p2 ? p1 - p2 : p1 + modulus[0] - p2;
    return (double)difference * 2.328306549295728e-10;
}

void mrg32k3a_streams_init(struct mrg32k3a_streams *streams, uint64_t number)
{
    power(127, streams->jump);
    power(76, streams->inner);
    streams->number = number;
    for (int i = 0; i < 6; i++) {
        streams->next.s[i] = 1;
    }
    uint64_t square[2][3][3];
    memcpy(square, streams->jump, sizeof square);
    for (; number > 0; number >>= 1) {
        if (number & 1) {
            mrg32k3a_apply(square, &streams->next);
        }
        multiply(square[0], square[0], modulus[0], square[0]);
        multiply(square[1], square[1], modulus[1], square[1]);
    }
}

void mrg32k3a_streams_skip(struct mrg32k3a_streams *streams)
{
    mrg32k3a_apply(streams->jump, &streams->next);
    streams->number++;
}

struct mrg32k3a mrg32k3a_streams_take(struct mrg32k3a_streams *streams)
{
    struct mrg32k3a taken = streams->next;
    mrg32k3a_apply(streams->inner, &taken);
    mrg32k3a_streams_skip(streams);
    return taken;
}

struct mrg32k3a mrg32k3a_stream(uint64_t number)
{
    struct mrg32k3a_streams streams;
    mrg32k3a_streams_init(&streams, number);
    return mrg32k3a_streams_take(&streams);
}
