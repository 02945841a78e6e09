#include "agent/pod_fetch.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace plim::agent {
namespace {

TEST(PodFetch, a_host_may_be_named_as_if_it_were_a_failure_of_tls) {
  const Error refused =
      fail_errno(ECONNREFUSED, "connecting to ssl-certificate.example:10250: connect");
  EXPECT_EQ(failure_of(refused).reason, "connect");
}

}  // namespace
}  // namespace plim::agent
