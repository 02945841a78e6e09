#include "placement/volume_table.hpp"

#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "placement/engine.hpp"
#include "placement/testing/objects.hpp"
#include "placement/volume_match.hpp"

namespace plim::placement {
namespace {

using testing::plain_node;
using testing::pod_of;

PersistentVolume available(std::string name, std::string version = "1") {
  PersistentVolume out;
  out.name = std::move(name);
  out.version = std::move(version);
  out.capacity = Quantity(10);
  out.storage_class = "local";
  out.available = true;
  return out;
}

VolumeClaim waiting(const std::string& name) {
  VolumeClaim out{.ns = "default", .name = name, .storage_class = "local"};
  out.uid = "u-" + name;
  out.request = Quantity(5);
  return out;
}

PodPointer user_of(std::string_view claim) {
  return pod_of(
      fmt::format("{{metadata: {{name: user-of-{0}}}, spec: {{containers: [{{name: c}}], "
                  "volumes: [{{name: v, persistentVolumeClaim: {{claimName: {0}}}}}]}}}}",
                  claim));
}

class Reservations : public ::testing::Test {
 protected:
  Reservations() {
    engine_.set_node(plain_node("a"));
    engine_.set_node(plain_node("b"));
    engine_.volumes().set_class({.name = "local",
                                 .waits_for_consumer = true,
                                 .provisioner = "kubernetes.io/no-provisioner"});
  }

  VolumePlan plan(std::string_view claim, std::string_view node = "a") {
    return plan_volumes(engine_.cluster(), *user_of(claim), node);
  }

  Engine engine_;
};

TEST_F(Reservations, a_reserved_volume_is_not_chosen_again) {
  VolumeTable& table = engine_.volumes();
  table.set_claim(waiting("one"));
  table.set_claim(waiting("two"));
  table.set_volume(available("pv"));
  const VolumePlan first = plan("one");
  ASSERT_EQ(first.statics.size(), 1U);
  table.reserve(first, "a");
  EXPECT_TRUE(plan("two").empty());
  table.set_volume(available("pv", "2"));  // an update that does not show the claim yet
  EXPECT_TRUE(plan("two").empty());
  EXPECT_FALSE(plan("one").empty());  // another pod with the same claim
  table.release(first);
  EXPECT_FALSE(plan("two").empty());
  EXPECT_EQ(table.reservations(), 0U);
}

TEST_F(Reservations, the_last_of_two_pods_gives_the_volume_back) {
  VolumeTable& table = engine_.volumes();
  table.set_claim(waiting("one"));
  table.set_claim(waiting("two"));
  table.set_volume(available("pv"));
  const VolumePlan first = plan("one");
  table.reserve(first, "a");
  const VolumePlan second = plan("one");
  table.reserve(second, "a");
  table.release(first);
  EXPECT_TRUE(plan("two").empty());
  table.release(second);
  EXPECT_FALSE(plan("two").empty());
}

TEST_F(Reservations, a_claim_whose_volume_is_being_made_keeps_its_node) {
  VolumeTable& table = engine_.volumes();
  table.set_class({.name = "local", .waits_for_consumer = true, .provisioner = "d.example"});
  table.set_claim(waiting("one"));
  const VolumePlan first = plan("one", "a");
  ASSERT_EQ(first.provisions.size(), 1U);
  table.reserve(first, "a");
  EXPECT_TRUE(plan("one", "b").empty());
  EXPECT_FALSE(plan("one", "a").empty());
  table.release(first);
  EXPECT_FALSE(plan("one", "b").empty());
}

// The API server, this scheduler and the volume controller at work at the same time. A write
// succeeds only if nobody changed the volume in between, and watches lag behind.
TEST_F(Reservations, no_volume_gets_two_claims_in_any_order_of_events) {
  VolumeTable& table = engine_.volumes();
  constexpr int kVolumes = 4, kClaims = 8;

  struct Stored {
    int version = 1;
    std::string claim;  // "" for none
  };

  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SeededRandom random(seed);
    std::map<std::string, Stored> server;
    std::map<std::string, VolumePlan> in_flight;  // by claim
    std::map<std::string, std::string> written;   // claim to volume
    const auto show = [&](const std::string& name) {
      PersistentVolume seen = available(name, std::to_string(server[name].version));
      if (const std::string& claim = server[name].claim; !claim.empty()) {
        seen.claim = ClaimRef{"default", claim, "u-" + claim};
        seen.available = false;
      }
      table.set_volume(seen);
    };
    for (int i = 0; i < kVolumes; ++i) show(fmt::format("pv{}", i));
    for (int i = 0; i < kClaims; ++i) table.set_claim(waiting(fmt::format("c{}", i)));
    for (int step = 0; step < 400; ++step) {
      const std::string name = fmt::format("pv{}", random.next() % kVolumes);
      const std::string claim = fmt::format("c{}", random.next() % kClaims);
      auto flying = in_flight.find(claim);
      switch (random.next() % 6) {
        case 0:  // a pod with this claim is decided
          if (flying == in_flight.end() && !written.contains(claim))
            if (VolumePlan made = plan(claim); !made.empty()) {
              for (const auto& [other, known] : in_flight)
                // Of two pods that saw different versions, the older one's write fails.
                ASSERT_TRUE(known.statics[0].volume != made.statics[0].volume ||
                            known.statics[0].version != made.statics[0].version)
                    << "seed " << seed;
              table.reserve(made, "a");
              in_flight.emplace(claim, std::move(made));
            }
          break;
        case 1:  // its volume is written, and the reservation ends
          if (flying == in_flight.end()) break;
          if (const VolumePlan::Static& one = flying->second.statics[0];
              one.version == std::to_string(server[one.volume].version)) {
            Stored& stored = server[one.volume];
            ASSERT_TRUE(stored.claim.empty() || stored.claim == claim) << "seed " << seed;
            stored = {stored.version + 1, claim};
            written[claim] = one.volume;
          }
          table.release(flying->second);
          in_flight.erase(flying);
          break;
        case 2:  // the pod is deleted
          if (flying == in_flight.end()) break;
          table.release(flying->second);
          in_flight.erase(flying);
          break;
        case 3:  // somebody changes the volume
          ++server[name].version;
          break;
        case 4:  // the claim is deleted, and its volume is recycled
          if (!written.contains(claim) || flying != in_flight.end()) break;
          server[written[claim]].claim.clear();
          ++server[written[claim]].version;
          written.erase(claim);
          break;
        default:
          show(name);
      }
      std::set<std::string> taken;
      for (const auto& [owner, volume] : written)
        ASSERT_TRUE(taken.insert(volume).second) << "seed " << seed << " step " << step;
    }
    for (const auto& [claim, made] : in_flight) table.release(made);
    EXPECT_EQ(table.reservations(), 0U);
  }
}

}  // namespace
}  // namespace plim::placement
