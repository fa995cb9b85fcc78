/* SPDX-License-Identifier: Apache-2.0 */
/* Draws that are functions of their key (base/draw.h): their moments, and that nothing else decides them. */
#include "base/draw.h"

#include <math.h>

#include "tests/check.h"

enum { DRAWS = 40000 };

static void moments(double (*draw)(uint64_t), uint64_t seed, double *mean, double *deviation)
{
    double sum = 0;
    double squares = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double x = draw(draw_key(seed, i));
        sum += x;
        squares += x * x;
    }
    *mean = sum / DRAWS;
    *deviation = sqrt(squares / DRAWS - *mean * *mean);
}

static void draws_have_the_mean_and_the_spread_they_promise(void **state)
{
    (void)state;
    static const struct {
        double (*draw)(uint64_t);
        double mean, deviation;
    } kinds[] = {{draw_uniform, 0.5, 0.288675}, {draw_normal, 0, 1}, {draw_exponential, 1, 1}};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        double mean = 0;
        double deviation = 0;
        moments(kinds[i].draw, 7 + i, &mean, &deviation);
        CHECK(fabs(mean - kinds[i].mean) < 0.02, "kind %zu: mean %g", i, mean);
        CHECK(fabs(deviation - kinds[i].deviation) < 0.02, "kind %zu: deviation %g", i, deviation);
    }
}

static void a_draw_depends_on_its_key_alone(void **state)
{
    (void)state;
    double first = draw_normal(draw_key(3, 5));
    (void)draw_normal(draw_key(3, 6));
    CHECK(draw_normal(draw_key(3, 5)) == first, "asked again");
    CHECK(draw_normal(draw_key(5, 3)) != first, "the order of its parts is part of a key");
    CHECK(draw_normal(draw_key(4, 5)) != first, "another seed");
}

static void the_logarithm_and_the_exponential_are_those_of_mathematics(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        double x = ldexp(draw_uniform(i) + 1e-9, (int)(i % 200) - 100);
        CHECK(fabs(draw_log(x) - log(x)) <= 4e-16 * fmax(1, fabs(log(x))), "log %.17g", x);
        double y = 60 * (draw_uniform(i + 5000) - 0.5);
        CHECK(fabs(draw_exp(y) / exp(y) - 1) < 2e-14, "exp %.17g", y);
    }
    CHECK(draw_log(1.0) == 0.0, "log 1");
    CHECK(draw_exp(0.0) == 1.0, "exp 0");
    CHECK(isinf(draw_exp(800)) && draw_exp(-800) == 0, "beyond what a double holds");
}

TEST_MAIN(draws_have_the_mean_and_the_spread_they_promise, a_draw_depends_on_its_key_alone,
          the_logarithm_and_the_exponential_are_those_of_mathematics)
