#include "pools/event_digest.hpp"

#include <gtest/gtest.h>

namespace plim::pools {
namespace {

using namespace std::chrono_literals;

kube::EventNote about(const std::string& pod, const std::string& reason, const std::string& text) {
  return {.about = {.api_version = "v1", .kind = "Pod", .ns = "ns", .name = pod, .uid = pod},
          .reason = reason,
          .message = text};
}

std::vector<std::string> texts(const std::vector<kube::EventNote>& notes) {
  std::vector<std::string> out;
  for (const kube::EventNote& note : notes)
    out.push_back(note.about.name + " " + note.reason + " " + note.message);
  return out;
}

using Texts = std::vector<std::string>;

TEST(EventDigest, merges_texts_into_one_event) {
  EventDigest digest;
  digest.add(about("a", "CPUsPinned", "x"));
  digest.add(about("a", "CPUsPinned", "y"));
  digest.add(about("a", "CPUsPinned", "x"));
  digest.add(about("a", "CPUOffline", "z"));
  digest.add(about("b", "CPUsPinned", "x"));
  EXPECT_EQ(texts(digest.due(SteadyTime())),
            (Texts{"a CPUOffline z", "a CPUsPinned x; y", "b CPUsPinned x"}));
}

TEST(EventDigest, keeps_events_of_one_object_and_reason_a_minute_apart) {
  EventDigest digest;
  SteadyTime now;
  digest.add(about("a", "CpusetDrift", "1"));
  EXPECT_EQ(digest.due(now).size(), 1u);
  digest.add(about("a", "CpusetDrift", "2"));
  digest.add(about("a", "CpusetDrift", "3"));
  EXPECT_TRUE(digest.due(now + 59s).empty());
  EXPECT_EQ(texts(digest.due(now + 60s)), (Texts{"a CpusetDrift 2; 3"})) << "nothing is lost";
  EXPECT_TRUE(digest.due(now + 120s).empty());
  digest.add(about("a", "CpusetDrift", "4"));
  EXPECT_EQ(digest.due(now + 121s).size(), 1u);
}

TEST(EventDigest, does_not_delay_the_event_of_another_container) {
  EventDigest digest;
  SteadyTime now;
  kube::EventNote first = about("a", "CPUsPinned", "1"), second = about("a", "CPUsPinned", "2");
  first.about.field_path = "spec.containers{first}";
  second.about.field_path = "spec.containers{second}";
  digest.add(first);
  EXPECT_EQ(texts(digest.due(now)), (Texts{"a CPUsPinned 1"}));
  digest.add(second);
  EXPECT_EQ(texts(digest.due(now + 1s)), (Texts{"a CPUsPinned 2"}));
  digest.add(second);
  EXPECT_TRUE(digest.due(now + 2s).empty());
}

}  // namespace
}  // namespace plim::pools
