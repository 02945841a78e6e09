#include "webhook/certs.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "net/x509.hpp"

namespace plim::webhook {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = WallTime(1'700'000'000s);

std::string authority(std::string_view name, std::chrono::hours left = 24h) {
  const auto made = net::make_authority(name, kNow - 48h, kNow + left);
  EXPECT_TRUE(made);
  return made ? made->certificate_pem : std::string();
}

TEST(CertBundle, has_the_new_authority_first_and_each_once) {
  const std::string one = authority("one"), two = authority("two"), three = authority("three");
  EXPECT_EQ(merged_bundle({two, one}, one + three + two, kNow), two + one + three);
  EXPECT_EQ(merged_bundle({one, ""}, "", kNow), one);
}

TEST(CertBundle, drops_expired_certificates_and_other_text) {
  const std::string good = authority("good"), old = authority("old", -1h);
  EXPECT_EQ(merged_bundle({good}, old, kNow), good);
  EXPECT_EQ(merged_bundle({good}, "nonsense\n-----BEGIN CERTIFICATE-----\nAAAA", kNow), good);
  EXPECT_EQ(
      merged_bundle({good}, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", kNow),
      good);
}

TEST(CertBundle, does_not_grow_without_limit) {
  std::string bundle;
  for (int i = 0; i < 9; ++i) bundle = merged_bundle({authority(std::to_string(i))}, bundle, kNow);
  std::size_t count = 0;
  for (auto at = bundle.find("BEGIN"); at != bundle.npos; at = bundle.find("BEGIN", at + 1))
    ++count;
  EXPECT_EQ(count, 4u);
}

}  // namespace
}  // namespace plim::webhook
