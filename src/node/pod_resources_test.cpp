#include "node/pod_resources.hpp"

#include <gtest/gtest.h>

namespace plim::node {
namespace {

TEST(PodResources, decodes_what_a_kubelet_reports) {
  const auto read = decode_pod_resources(encode_pod_resources(
      {{"ns", "p", "", "c", "x.y/pool", {"4", "5"}}, {"ns", "p", "", "c", "x.y/pool", {"9"}}}));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].container, "c");
  EXPECT_EQ((*read)[0].ids, (std::vector<std::string>{"4", "5"}));
  EXPECT_FALSE(decode_pod_resources("\xff\xff"));
}

TEST(PodResources, include_cpus_that_the_kubelet_assigns_itself) {
  const auto cpus = decode_allocatable_cpus(std::string("\x12\x02\x00\x03", 4));
  ASSERT_TRUE(cpus);
  EXPECT_EQ(*cpus, (std::vector<std::int64_t>{0, 3}));
  EXPECT_TRUE(decode_allocatable_cpus("")->empty());
  EXPECT_FALSE(decode_allocatable_cpus("\xff\xff"));
}

TEST(DeviceCheckpoint, accepts_both_formats_of_device_ids) {
  const auto read = parse_device_checkpoint(
      R"({"Data":{"PodDeviceEntries":[
           {"PodUID":"u1","ContainerName":"a","ResourceName":"x/p","DeviceIDs":["1","2"]},
           {"PodUID":"u2","ContainerName":"b","ResourceName":"x/p","DeviceIDs":{"-1":["3"],"0":["4"]}},
           {"PodUID":7}]},"Checksum":1})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].ids, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ((*read)[1].ids, (std::vector<std::string>{"3", "4"}));
  EXPECT_FALSE(parse_device_checkpoint(R"({"Data":{"PodDevi)"));
  EXPECT_TRUE(parse_device_checkpoint("{}")->empty());
}

}  // namespace
}  // namespace plim::node
