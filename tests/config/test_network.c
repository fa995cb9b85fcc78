/* SPDX-License-Identifier: Apache-2.0 */
/* What a network file may say, what it means, and how it is refused. */
#include "config/table.h"
#include "tests/config/reading.h"

static enum orr_status parse(struct reading *reading, const char *text, size_t size, struct topo_dims *dims)
{
    return config_parse_network("n.yml", text, size, &reading->notes, dims, &reading->err);
}

static void dimensions_are_read_with_strides_and_rates(void **state)
{
    (void)state;
    static const char text[] = "# a comment\ntopology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 2, 8, 4 ]\n"
                               "bandwidth: [ 50.0, 33.3, 400Gbps ]  # GB/s\nlatency:\n  - 500.0\n  - 936.25\n  - 1us\n";
    struct reading reading;
    reading_begin(&reading, true);
    struct topo_dims dims;
    CHECK_OK(parse(&reading, text, strlen(text), &dims), &reading.err);
    CHECK_U64(dims.count, 3, "dimensions");
    CHECK_U64(dims.ranks, 64, "ranks");
    CHECK_TEXT(topo_kind_name(dims.dim[1].kind), "FullyConnected");
    CHECK_U64(dims.dim[2].stride, 16, "stride of dimension 2");
    CHECK_U64(topo_coordinate(&dims.dim[1], 37), 2, "37 = 1 + 2*(2 + 8*2)");
    CHECK(dims.dim[0].bytes_per_ns == 53.6870912, "50 GB of 2^30 bytes a second");
    CHECK(dims.dim[1].bytes_per_ns == 33.3 * 1073741824.0 / 1000000000.0, "multiplied first, then divided");
    CHECK(dims.dim[2].bytes_per_ns == 50.0, "400 Gbit/s are 50 bytes a nanosecond");
    CHECK(dims.dim[1].latency_ns == 936.25, "fractions of a nanosecond are kept");
    CHECK(dims.dim[2].latency_ns == 1000.0, "1us");
    reading_end(&reading);
}

static void a_scalar_stands_for_a_list_of_one(void **state)
{
    (void)state;
    static const char text[] = "topology: Ring\nnpus_count: '8'\nbandwidth: 1e2\nlatency: .5\n";
    struct reading reading;
    reading_begin(&reading, true);
    struct topo_dims dims;
    CHECK_OK(parse(&reading, text, strlen(text), &dims), &reading.err);
    CHECK_U64(dims.count, 1, "one dimension");
    CHECK_U64(dims.ranks, 8, "ranks");
    CHECK(dims.dim[0].bandwidth_gibps == 100.0 && dims.dim[0].latency_ns == 0.5, "numbers as YAML writes them");
    reading_end(&reading);
}

static void an_unknown_key_is_noted(void **state)
{
    (void)state;
    static const char text[] = "topology: Ring\nnpus_count: 8\nbandwith: 3\nbandwidth: 100\nlatency: 5\n";
    struct reading reading;
    reading_begin(&reading, false);
    struct topo_dims dims;
    CHECK_OK(parse(&reading, text, strlen(text), &dims), &reading.err);
    check_noted(&reading, "n.yml:3: unknown key \"bandwith\"; did you mean \"bandwidth\"? (ignored)");
    CHECK_U64(reading.notes.count, 1, "one note");
    reading_end(&reading);
}

static const struct bad_text bad[] = {
    {"", "n.yml:1: the file is empty"},
    {"# only a comment\n", "n.yml:1: the file is empty"},
    {"Ring\n", "n.yml:1: found \"Ring\"; a map of keys to values is expected"},
    {"topology: [Ring\n", "n.yml:2: column 1: did not find expected ',' or ']'"},
    {"topology: [Ring]\n\tnpus_count: [8]\n", "n.yml:2: column 1: found character that cannot start any token"},
    {"topology: [Ring]\n", "n.yml:1: the key \"npus_count\" is missing: ranks along this dimension"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [50]\n", "the key \"latency\" is missing"},
    {"topology: [Rign]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [5]\n",
     "n.yml:1: \"topology\" entry 1 is \"Rign\"; accepted: Ring, FullyConnected, Switch; did you mean \"Ring\"?"},
    {"topology: [Ring, Ring]\nnpus_count: [8, 1]\nbandwidth: [50, 5]\nlatency: [5, 5]\n",
     "n.yml:2: \"npus_count\" entry 2 is 1; accepted: whole number, 2 to 2147483647"},
    {"topology: [Ring]\nnpus_count: [0]\nbandwidth: [50]\nlatency: [5]\n",
     "entry 1 is 0; accepted: whole number, 1 to"},
    {"topology: [Ring]\nnpus_count: [-4]\nbandwidth: [50]\nlatency: [5]\n", "\"npus_count\" entry 1 is -4; accepted"},
    {"topology: [Ring]\nnpus_count: [010]\nbandwidth: [50]\nlatency: [5]\n", "\"npus_count\" entry 1 is \"010\""},
    {"topology: [Ring]\nnpus_count: [99999999999]\nbandwidth: [50]\nlatency: [5]\n", "is 99999999999; accepted"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [0]\nlatency: [5]\n",
     "n.yml:3: \"bandwidth\" entry 1 is 0; accepted: rate, GiB/s, 1e-06 to"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [-1.5]\nlatency: [5]\n", "\"bandwidth\" entry 1 is -1.5; accepted"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [.inf]\nlatency: [5]\n", "\".inf\" is not a number with a unit"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [nan]\nlatency: [5]\n", "\"nan\" is not a number with a unit"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [1e999]\nlatency: [5]\n",
     "n.yml:3: \"bandwidth\" entry 1: \"1e999\" is out of range"},
    {"topology: [Ring, Ring]\nnpus_count: [8, 2]\nbandwidth: [50, 50Gpbs]\nlatency: [5, 5]\n",
     "n.yml:3: \"bandwidth\" entry 2: unknown unit \"Gpbs\"; did you mean \"Gbps\"? (accepted: rate, GiB/s, 1e-06 to "
     "1000000000, or a text with a unit such as \"400Gbps\")"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [5Gbps]\n",
     "n.yml:4: \"latency\" entry 1: \"Gbps\" is the unit of a rate, where a time is wanted; accepted: ns, us, ms, s"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [50]\nlatency:\n- -0.5\n",
     "n.yml:5: \"latency\" entry 1 is -0.5; accepted: time, ns, 0 to 1e+12"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [[5]]\n", "\"latency\" entry 1 is a list of 1"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [50]\nlatency: []\n",
     "n.yml:4: \"latency\" has 0 entries; accepted: 1 to 16"},
    {"topology: [Ring]\nnpus_count: [8]\nbandwidth: [50]\nlatency:\n", "n.yml:4: \"latency\" is empty; accepted"},
    {"topology: [Ring]\nnpus_count: [8, 4]\nbandwidth: [50]\nlatency: [5]\n",
     "n.yml:2: \"npus_count\" has 2 entries but \"topology\" on line 1 has 1; each needs one per dimension"},
    {"topology: [Ring, Ring]\nnpus_count: [65536, 32768]\nbandwidth: [50, 50]\nlatency: [5, 5]\n",
     "n.yml:2: the product of \"npus_count\" is too large; accepted: up to 2147483647 ranks"},
    {"topology: [Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring,Ring]\n",
     "n.yml:1: \"topology\" has 17 entries; accepted: 1 to 16"},
    {"topology: Ring\nlatency: 5\ntopology: Ring\n", "n.yml:3: the key \"topology\" is there twice, first on line 1"},
    {"topology: &a [Ring]\nnpus_count: *a\n", "n.yml:1: column 11: anchors (&) and tags (!) are not accepted"},
    {"topology: *a\n", "n.yml:1: column 11: aliases (*) are not accepted"},
    {"topology: !!str Ring\n", "n.yml:1: column 11: anchors (&) and tags (!) are not accepted"},
    {"topology: Ring\n---\nnpus_count: 8\n", "n.yml:2: column 1: a second document begins"},
    {"[a, b]: c\n", "n.yml:1: column 1: a key must be a plain text or number"},
    {"topology: \"R\\0\"\n", "n.yml:1: column 11: a text with a NUL character"},
    {"topology: \xff\n", "n.yml: byte 10: not UTF-8 text"},
    {"topology: \x01\n", "n.yml: byte 10: not UTF-8 text: control characters are not allowed"},
    {"topology: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[Ring]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
     "n.yml:1: column 42: lists and maps are nested too deep"},
};

static void a_bad_file_is_refused_with_its_line_and_what_is_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct reading reading;
        reading_begin(&reading, false);
        struct topo_dims dims = {.count = 7};
        check_refusal(&reading, parse(&reading, bad[i].text, strlen(bad[i].text), &dims), &bad[i]);
        CHECK_U64(dims.count, 7, "outputs are written on success only");
        reading_end(&reading);
    }
}

static void a_memory_limit_is_an_error_of_its_own(void **state)
{
    (void)state;
    for (uint64_t limit = 1; limit < 9000; limit += 61) {
        struct reading reading;
        reading_begin(&reading, false);
        reading.mem.limit = limit;
        struct topo_dims dims;
        const char *text = config_format_network.example;
        enum orr_status status = parse(&reading, text, strlen(text), &dims);
        CHECK(status == ORR_OK || status == ORR_ENOMEM, "limit %" PRIu64 ": %s", limit, reading.err.text);
        reading_end(&reading);
    }
}

static void the_example_is_accepted_without_a_note(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, true);
    struct topo_dims dims;
    const char *text = config_format_network.example;
    CHECK_OK(parse(&reading, text, strlen(text), &dims), &reading.err);
    CHECK_U64(dims.ranks, 32, "8 times 4");
    reading_end(&reading);
}

static void a_directory_is_refused(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, false);
    struct topo_dims dims;
    CHECK_STATUS(config_read_network("/", &reading.notes, &dims, &reading.err), ORR_EIO);
    reading_end(&reading);
}

TEST_MAIN(dimensions_are_read_with_strides_and_rates, a_scalar_stands_for_a_list_of_one, an_unknown_key_is_noted,
          a_bad_file_is_refused_with_its_line_and_what_is_accepted, a_memory_limit_is_an_error_of_its_own,
          the_example_is_accepted_without_a_note, a_directory_is_refused)
