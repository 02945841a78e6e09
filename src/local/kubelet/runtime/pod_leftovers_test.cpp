#include "local/kubelet/runtime/pod_leftovers.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rfc3339.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/kubelet/runtime/testing/facts_builder.hpp"

namespace plim::local::kubelet {
namespace {

json::value pod_with_status(std::string_view status) {
  auto parsed = parse_json(status);
  return json::object{{"status", parsed ? std::move(*parsed) : json::value()}};
}

TEST(PodLeftovers, restores_how_containers_ended) {
  PodFacts facts = plim::testing::pod_facts("new", "new, new");
  restore_ended(pod_with_status(R"({
      "initContainerStatuses":[{"name":"i1","restartCount":0,"state":{"terminated":
        {"exitCode":0,"reason":"Completed","containerID":"plimsoll://abc",
         "startedAt":"2024-01-01T00:00:01Z","finishedAt":"2024-01-01T00:00:02Z"}}}],
      "containerStatuses":[
        {"name":"c1","restartCount":3,"state":{"terminated":
          {"exitCode":137,"signal":9,"reason":"Error","message":"bye"}}},
        {"name":"c2","state":{"waiting":{"reason":"PodInitializing"}}},
        {"name":"unknown","state":{"terminated":{"exitCode":1}}}]})"),
                facts);
  const ContainerFacts& init = facts.init.at(0);
  ASSERT_TRUE(init.run);
  EXPECT_EQ(init.run->id, "abc");
  EXPECT_EQ(init.run->reason, "Completed");
  EXPECT_EQ(format_rfc3339(init.run->started), "2024-01-01T00:00:01Z");
  EXPECT_EQ(format_rfc3339(*init.run->finished), "2024-01-01T00:00:02Z");
  const ContainerFacts& failed = facts.containers.at(0);
  ASSERT_TRUE(failed.run);
  EXPECT_FALSE(failed.running());
  EXPECT_EQ(failed.run->exit_code, 137);
  EXPECT_EQ(failed.run->signal, 9);
  EXPECT_EQ(failed.run->message, "bye");
  EXPECT_EQ(failed.run->restart, 3);
  EXPECT_FALSE(facts.containers.at(1).run);
}

TEST(PodLeftovers, restores_what_the_probes_of_running_containers_found) {
  PodFacts facts = plim::testing::pod_facts("side-starting", "starting, starting, exit 0");
  const std::vector<std::string> running = restore_readiness(pod_with_status(R"({
      "initContainerStatuses":[{"name":"i1","started":true,"ready":true}],
      "containerStatuses":[
        {"name":"c1","started":true,"ready":false},
        {"name":"c2","started":false,"ready":false},
        {"name":"c3","started":true,"ready":true}]})"),
                                                             facts);
  EXPECT_EQ(running, (std::vector<std::string>{"i1", "c1", "c2"}));
  EXPECT_TRUE(facts.init.at(0).started && facts.init.at(0).ready);
  EXPECT_TRUE(facts.containers.at(0).started);
  EXPECT_FALSE(facts.containers.at(0).ready);
  EXPECT_FALSE(facts.containers.at(1).started);
  EXPECT_FALSE(facts.containers.at(2).started) << "it has ended";
}

TEST(PodLeftovers, are_none_without_a_note_or_a_shim) {
  plim::testing::TempDir dir;
  const PodFiles files(dir.path() + "/pod");
  EXPECT_FALSE(find_leftovers(files));
  ASSERT_TRUE(files.make());
  ASSERT_TRUE(files.write_note({.pod = json::object(), .pod_ip = "127.32.1.2"}));
  EXPECT_FALSE(find_leftovers(files)) << "no shim has written its state";
}

}  // namespace
}  // namespace plim::local::kubelet
