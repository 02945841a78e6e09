#include "pools/pool_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "pools/testing/fake_host.hpp"

namespace plim::pools {
namespace {

// CPU-Pooler's sample of 2018, with the blank before the colon as in its documentation.
constexpr std::string_view kSeedSample = R"(resourceBaseName: nokia.k8s.io
pools:
  cpupool1:
    cpus : "4,5"
    pooltype: "exclusive"
  cpupool2:
    cpus : "2,3"
    pooltype: "exclusive"
  sharedpool:
    cpus : "1"
    pooltype: "shared"
)";

struct Loaded {
  std::optional<NodePools> pools;
  Problems problems;

  std::string errors() const { return fmt::format("{}", fmt::join(problems.errors, "\n")); }

  std::string warnings() const { return fmt::format("{}", fmt::join(problems.warnings, "\n")); }
};

Loaded load(std::vector<ConfigText> texts, const NodeLabels& labels = {},
            const testing::Machine& machine = {}, const CpuSet& usable = {}) {
  Loaded out;
  out.pools = load_node_pools(texts, labels, testing::make_topology(machine), usable, out.problems);
  return out;
}

Loaded load(std::string_view text, const testing::Machine& machine = {}) {
  return load({{"poolconfig.yaml", std::string(text)}}, {}, machine);
}

TEST(PoolConfig, takes_the_sample_of_the_first_generation) {
  const Loaded loaded = load(kSeedSample);
  ASSERT_TRUE(loaded.pools) << loaded.errors();
  EXPECT_EQ(loaded.warnings(), "");
  ASSERT_EQ(loaded.pools->pools.size(), 3u);
  EXPECT_EQ(loaded.pools->resource(loaded.pools->pools[0]), "nokia.k8s.io/cpupool1");
  EXPECT_EQ(loaded.pools->pools[0].type, PoolType::exclusive);
  EXPECT_EQ(loaded.pools->pools[1].cpus, (CpuSet{2, 3}));
  EXPECT_EQ(loaded.pools->pools[2].type, PoolType::shared);
  EXPECT_EQ(loaded.pools->default_cpus.to_string(), "0,6-7");
}

TEST(PoolConfig, chooses_the_file_whose_labels_all_match) {
  const std::vector<ConfigText> files{
      {"poolconfig-controller.yaml",
       "nodeSelector: {nodeType: controller}\npools: {exclusive-c: {cpus: 1}}\n"},
      {"poolconfig-dpdk.yaml", "nodeSelector: {nodeType: dpdk}\npools: {exclusive-d: {cpus: 2}}\n"},
      {"poolconfig-fast.yaml", "nodeSelector: {speed: 10}\npools: {exclusive-f: {cpus: 3}}\n"}};
  EXPECT_EQ(load(files, {{"nodeType", "dpdk"}}).pools->file, "poolconfig-dpdk.yaml");
  EXPECT_TRUE(load(files).pools->idle());
  EXPECT_TRUE(load(files, {{"nodeType", "other"}}).pools->idle());
  const Loaded both = load(files, {{"nodeType", "dpdk"}, {"speed", "10"}});
  EXPECT_FALSE(both.pools);
  EXPECT_NE(both.errors().find("poolconfig-dpdk.yaml"), std::string::npos);
  EXPECT_NE(both.errors().find("poolconfig-fast.yaml"), std::string::npos);
}

TEST(PoolConfig, falls_back_to_the_file_without_selector) {
  const std::vector<ConfigText> files{
      {"poolconfig-a.yaml", "nodeSelector: {a: b}\npools: {exclusive-a: {cpus: 1}}\n"},
      {"poolconfig-z.yaml", "pools: {exclusive-z: {cpus: 1}}\n"}};
  EXPECT_EQ(load(files).pools->file, "poolconfig-z.yaml");
  EXPECT_EQ(load(files, {{"a", "b"}}).pools->file, "poolconfig-a.yaml");
}

TEST(PoolConfig, takes_the_base_name_from_a_file_of_its_own) {
  const Loaded loaded = load({{"cpu-pooler.yaml", "resourceBaseName: cpu.example\n"},
                              {"poolconfig-a.yaml", "pools: {shared-a: {cpus: 1}}\n"}});
  ASSERT_TRUE(loaded.pools) << loaded.errors();
  EXPECT_EQ(loaded.pools->resource(loaded.pools->pools[0]), "cpu.example/shared-a");
  const Loaded clash = load({{"cpu-pooler.yaml", "resourceBaseName: cpu.example\n"},
                             {"poolconfig-a.yaml", "resourceBaseName: x.y\npools: {}\n"}});
  EXPECT_NE(clash.errors().find("differs from cpu.example in cpu-pooler.yaml"), std::string::npos);
}

TEST(PoolConfig, takes_cpus_as_text_whatever_yaml_makes_of_them) {
  const Loaded loaded = load(
      "pools:\n  exclusive-a: {cpus: 010}\n  exclusive-b:\n    cpus: 1 # one\n"
      "  exclusive-c:\n    cpus: 2-3\n  shared-d: {cpus: ' 4 , 6-7 '}\n",
      {.cpus = 16});
  ASSERT_TRUE(loaded.pools) << loaded.errors();
  EXPECT_EQ(loaded.pools->find("exclusive-a")->cpus, CpuSet{10});
  EXPECT_EQ(loaded.pools->find("exclusive-b")->cpus, CpuSet{1});
  EXPECT_EQ(loaded.pools->find("exclusive-c")->cpus, (CpuSet{2, 3}));
  EXPECT_EQ(loaded.pools->find("shared-d")->cpus, (CpuSet{4, 6, 7}));
}

struct Mistake {
  const char* yaml;
  const char* expected;
};

class PoolMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(PoolMistake, is_named_with_file_line_pool_and_cpus) {
  const Loaded loaded = load(GetParam().yaml, {.cpus = 18, .threads = 2});
  EXPECT_FALSE(loaded.pools);
  EXPECT_NE(loaded.errors().find(GetParam().expected), std::string::npos) << loaded.errors();
}

INSTANTIATE_TEST_SUITE_P(
    All, PoolMistake,
    ::testing::Values(
        Mistake{"pools:\n  exclusive-a: {cpus: '3-8,12', hyperThreadingPolicy: none}\n"
                "  shared-b: {cpus: '9-12'}\n",
                "poolconfig.yaml:3:20: pool shared-b: CPU 12 is in pool exclusive-a too"},
        Mistake{"pools:\n  exclusive-a: {cpus: 8-3}\n",
                "poolconfig.yaml:2:23: pool exclusive-a: range 8-3 runs backwards"},
        Mistake{"pools: {exclusive-a: {cpus: one}}", "pool exclusive-a: \"one\" is neither"},
        Mistake{"pools: {exclusive-a: {cpus: '1,,2'}}", "empty item between two commas"},
        Mistake{"pools: {exclusive-a: {cpus: '0-8:2'}}", "\"0-8:2\" is neither"},
        Mistake{"pools: {exclusive-a: {cpus: -1}}", "\"-1\" is neither"},
        Mistake{"pools: {exclusive-a: {cpus: 99999999}}", "no kernel has a CPU"},
        Mistake{"pools: {exclusive-a: {cpus: ''}}", "pool exclusive-a: no CPUs"},
        Mistake{"pools: {exclusive-a: {}}", "pool exclusive-a: no CPUs"},
        Mistake{"pools: {exclusive-a: {cpus: 77}}",
                "pool exclusive-a: CPU 77 does not exist; this machine has 0-17"},
        Mistake{"pools: {a: {cpus: 1}, b: {cpus: 2}}", "a is a default pool already"},
        Mistake{"pools: {p: {cpus: 1, pooltype: foo}}", "pool p: pooltype is exclusive or shared"},
        Mistake{"pools: {sharedx: {cpus: 1, pooltype: exclusive}}", "contradicts its name"},
        Mistake{"pools: {exclusive-a: {cpus: '1,10', hyperThreadingPolicy: multiThreaded}}",
                "pool exclusive-a: CPU 1,10 are threads of the same cores"},
        Mistake{"pools: {exclusive-a: {cpus: '1', hyperThreadingPolicy: multiThreaded}, shared-b: "
                "{cpus: 10}}",
                "CPU 10 is in pool exclusive-a too"},
        Mistake{"pools: {exclusive-a: {cpus: 1, hyperThreadingPolicy: isolate}}",
                "hyperThreadingPolicy is singleThreaded, multiThreaded or none"},
        Mistake{"pools: {shared-a: {cpus: 1, hyperThreadingPolicy: none}}",
                "only exclusive pools have"},
        Mistake{"pools:\n  nodeSelector: {a: b}\n  shared-a: {cpus: 1}\n",
                "poolconfig.yaml:2:3: nodeSelector belongs next to pools"},
        Mistake{"pools: {-a: {cpus: 1}}", "pool \"-a\": a name has 1 to 63"},
        Mistake{"resourceBaseName: x.kubernetes.io\npools: {shared-a: {cpus: 1}}",
                "resourceBaseName must be a DNS name"},
        Mistake{"pools: [1]", "pools must map the name"},
        Mistake{"pools: {a: [", "poolconfig.yaml:2:1: flow sequence"},
        Mistake{"x: 1", "the file has no pools"}));

TEST(PoolConfig, reports_all_mistakes_at_once) {
  const Loaded loaded =
      load("pools:\n  exclusive-a: {cpus: x}\n  exclusive-b: {cpus: 8-3}\n  p: {pooltype: foo}\n");
  EXPECT_EQ(loaded.problems.errors.size(), 3u) << loaded.errors();
}

TEST(PoolConfig, warns_about_unknown_keys_and_shared_cores) {
  const Loaded loaded = load("colour: red\npools: {exclusive-a: {cpus: '1-2', shade: x}}\n",
                             {.cpus = 16, .threads = 2});
  ASSERT_TRUE(loaded.pools) << loaded.errors();
  EXPECT_EQ(loaded.problems.warnings.size(), 2u) << loaded.warnings();
  const Loaded old = load("pools: {exclusive-a: {cpus: '1,9'}, shared-b: {cpus: '2'}}\n",
                          {.cpus = 16, .threads = 2});
  ASSERT_TRUE(old.pools);
  EXPECT_NE(old.warnings().find("SiblingShared: CPU 1,9"), std::string::npos) << old.warnings();
}

TEST(PoolConfig, warns_about_unsupported_keys_with_their_lines) {
  const Loaded loaded = load(
      "pools:\n"
      "  exclusive-a:\n"
      "    cpus: 1\n"
      "    numa: single\n"
      "    partition: isolated\n"
      "    smtOverride: true\n");
  ASSERT_TRUE(loaded.pools) << loaded.errors();
  ASSERT_EQ(loaded.problems.warnings.size(), 3u) << loaded.warnings();
  EXPECT_TRUE(
      loaded.problems.warnings[0].starts_with("poolconfig.yaml:4:5: pool exclusive-a: numa"))
      << loaded.warnings();
  EXPECT_TRUE(
      loaded.problems.warnings[1].starts_with("poolconfig.yaml:5:5: pool exclusive-a: part"))
      << loaded.warnings();
  EXPECT_TRUE(loaded.problems.warnings[2].starts_with("poolconfig.yaml:6:5: pool exclusive-a: smt"))
      << loaded.warnings();
  EXPECT_FALSE(load("pools: {exclusive-a: {cpus: '1', smtOverride: maybe}}\n").pools);
  EXPECT_EQ(
      load("pools: {exclusive-a: {cpus: '1', smtOverride: false, partition: member}}\n").warnings(),
      "");
}

TEST(PoolConfig, computes_the_default_pool_from_what_is_left) {
  const Loaded loaded = load("pools: {exclusive-a: {cpus: '2-3'}, shared-b: {cpus: '1'}}\n",
                             {.cpus = 16, .threads = 2});
  ASSERT_TRUE(loaded.pools) << loaded.errors();
  // The sibling threads of 2 and 3 stay idle; the sibling of 1 is in the default pool.
  EXPECT_EQ(loaded.pools->default_cpus.to_string(), "0,4-9,12-15");
  const Loaded off = load("implicitDefault: false\npools: {exclusive-a: {cpus: '2-3'}}\n");
  EXPECT_TRUE(off.pools->default_cpus.empty());
  const Loaded nested =
      load({{"poolconfig.yaml", "pools: {exclusive-a: {cpus: '2'}}"}}, {}, {}, CpuSet{1, 2, 3});
  EXPECT_EQ(nested.pools->default_cpus, (CpuSet{1, 3}));
  const Loaded outside =
      load({{"poolconfig.yaml", "pools: {exclusive-a: {cpus: '5'}}"}}, {}, {}, CpuSet{1, 2, 3});
  EXPECT_NE(outside.errors().find("pods cannot use CPU 5 on this machine; they may use 1-3"),
            std::string::npos);
}

TEST(PoolConfig, knows_how_many_cpus_a_shared_pool_may_have) {
  EXPECT_TRUE(load("pools: {shared-a: {cpus: 0-261}}", {.cpus = 400}).pools);
  const Loaded large = load("pools: {shared-a: {cpus: 0-299}}", {.cpus = 400});
  EXPECT_NE(large.errors().find("set sharedUnit: 10m"), std::string::npos) << large.errors();
  EXPECT_TRUE(load("pools: {shared-a: {cpus: 0-299, sharedUnit: 10m}}", {.cpus = 400}).pools);
}

TEST(PoolConfig, reads_the_entries_of_a_manifest) {
  plim::testing::TempDir dir;
  ASSERT_TRUE(write_file(dir / "cm.yaml",
                         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cpu-dp-configmap}\n"
                         "data:\n  poolconfig.yaml: |\n    pools:\n      shared-a: {cpus: 1}\n"));
  auto texts = read_config_texts({dir / "cm.yaml"});
  ASSERT_TRUE(texts);
  ASSERT_EQ(texts->size(), 1u);
  EXPECT_TRUE(load(*texts).pools);
  EXPECT_TRUE(read_config_texts({dir.path()})->empty());
  EXPECT_FALSE(read_config_texts({dir / "missing"}));
}

}  // namespace
}  // namespace plim::pools
