#include "webhook/cert_rotation.hpp"

#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "kube/testing/stub_client.hpp"

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
