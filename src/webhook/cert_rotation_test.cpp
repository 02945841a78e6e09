#include "webhook/cert_rotation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/random.hpp"
#include "kube/testing/object_api.hpp"

namespace plim::webhook {
namespace {

// Reading its Secret takes as long as the test wants.
class SlowSecrets final : public plim::testing::StubClient {
 public:
  explicit SlowSecrets(const Executor& loop) : answered(loop) {}

  Answer<json::value> get(Resource resource, Path) override {
    if (resource.plural != "secrets") co_return fail(Code::unavailable, "not now");
    ++reads;
    co_await answered.wait();
    co_return fail(Code::unavailable, "not now");
  }

  int reads = 0;
  Event answered;
};

TEST(CertRotation, tells_the_authority_soon_after_it_becomes_the_leader) {
  using namespace std::chrono_literals;
  const CertSettings settings;
  Loop loop;
  FakeClock clock;
  SeededRandom random(1);
  plim::testing::ObjectApi api;
  auto client = std::make_shared<plim::testing::ObjectClient>(api, clock, random);
  const auto run_for = [&](Nanos duration) {
    const SteadyTime end = clock.steady() + duration;
    for (loop.run_ready(); clock.steady() < end; loop.run_ready()) clock.advance(100ms);
  };
  const auto start = [&](std::string identity) {
    auto rotation = std::make_unique<CertRotation>(
        loop.executor(), client, settings, net::ServerTls{}, std::move(identity),
        [](const auto&) {}, clock);
    rotation->start();
    run_for(10s);
    return rotation;
  };
  auto leader = start("a"), other = start("b");
  run_to_end(loop, leader->stop());
  const std::string name = settings.configurations.front();
  const json::value service = json::object{{"name", settings.service}, {"namespace", settings.ns}};
  api.objects[name] = json::object{
      {"metadata", json::object{{"name", name}, {"resourceVersion", "x"}}},
      {"webhooks",
       json::array{json::object{{"clientConfig", json::object{{"service", service}}}}}}};
  run_for(10s);
  const std::string authority(text_at(api.objects[settings.secret], {"data", "ca.pem"}));
  EXPECT_NE(to_json(api.objects[name]).find(fmt::format("\"caBundle\":\"{}\"", authority)),
            std::string::npos);
  run_to_end(loop, other->stop());
}

TEST(CertRotation, checks_again_when_asked_during_a_check) {
  Loop loop;
  FakeClock clock;
  auto client = std::make_shared<SlowSecrets>(loop.executor());
  CertRotation rotation(
      loop.executor(), client, CertSettings{}, net::ServerTls{}, "a", [](const auto&) {}, clock);
  rotation.start();
  loop.run_ready();
  rotation.look();
  loop.run_ready();
  EXPECT_EQ(client->reads, 1);
  rotation.look();
  loop.run_ready();
  EXPECT_EQ(client->reads, 1);
  client->answered.notify();
  loop.run_ready();
  EXPECT_EQ(client->reads, 2);
  client->answered.notify();
  loop.run_ready();
  EXPECT_EQ(client->reads, 2);
  run_to_end(loop, rotation.stop());
}

}  // namespace
}  // namespace plim::webhook
