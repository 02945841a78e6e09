#include "kube/certificates.hpp"

#include <gtest/gtest.h>

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

const WallTime kNow{std::chrono::seconds(1'700'000'000)};

TEST(Certificates, serve_every_name_of_the_service) {
  const auto made = make_service_certificates("hook", "kube-system", kNow);
  ASSERT_TRUE(made) << made.error().message;
  const auto info = net::read_certificate(made->serving.certificate_pem);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->dns_names,
            (std::vector<std::string>{"hook", "hook.kube-system", "hook.kube-system.svc",
                                      "hook.kube-system.svc.cluster.local"}));
  EXPECT_TRUE(net::verify_certificate(made->serving.certificate_pem, made->serving.key_pem,
                                      made->authority.certificate_pem, kNow));
}

TEST(Certificates, are_renewed_in_the_last_third_of_their_life) {
  const auto made =
      make_service_certificates("hook", "ns", kNow, {.authority = 9000h, .serving = 90h});
  ASSERT_TRUE(made);
  EXPECT_EQ(renewal_of(*made, "hook", "ns", kNow), Renewal::none);
  EXPECT_EQ(renewal_of(*made, "hook", "ns", kNow + 59h), Renewal::none);
  EXPECT_EQ(renewal_of(*made, "hook", "ns", kNow + 61h), Renewal::serving);
  EXPECT_EQ(renewal_of(*made, "hook", "ns", kNow + 6001h), Renewal::authority);
}

TEST(Certificates, a_renewed_one_is_trusted_through_the_old_authority) {
  auto made = make_service_certificates("hook", "ns", kNow);
  ASSERT_TRUE(made);
  auto renewed = issue_service_certificate(made->authority, "hook", "ns", kNow + 8000h);
  ASSERT_TRUE(renewed) << renewed.error().message;
  made->serving = *renewed;
  EXPECT_EQ(renewal_of(*made, "hook", "ns", kNow + 8000h), Renewal::none);
}

TEST(Certificates, are_renewed_when_they_do_not_fit) {
  const auto made = make_service_certificates("hook", "ns", kNow);
  const auto other = make_service_certificates("hook", "ns", kNow);
  ASSERT_TRUE(made && other);
  EXPECT_EQ(renewal_of(*made, "hook", "elsewhere", kNow), Renewal::serving);
  EXPECT_EQ(renewal_of({made->authority, other->serving}, "hook", "ns", kNow), Renewal::serving);
  EXPECT_EQ(renewal_of({made->authority, {"", ""}}, "hook", "ns", kNow), Renewal::serving);
  EXPECT_EQ(renewal_of({{"junk", "junk"}, made->serving}, "hook", "ns", kNow), Renewal::authority);
}

TEST(Certificates, are_renewed_when_the_clock_is_set_to_a_time_before_theirs) {
  auto made = make_service_certificates("hook", "ns", kNow);
  const auto earlier = make_service_certificates("hook", "ns", kNow - 48h);
  ASSERT_TRUE(made && earlier);
  EXPECT_EQ(renewal_of(*made, "hook", "ns", kNow - 1h), Renewal::authority);
  EXPECT_EQ(renewal_of(*earlier, "hook", "ns", kNow), Renewal::none);  // and forward again
  auto late = issue_service_certificate(earlier->authority, "hook", "ns", kNow);
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(renewal_of({earlier->authority, *late}, "hook", "ns", kNow - 1h), Renewal::serving);
}

}  // namespace
}  // namespace plim::kube
