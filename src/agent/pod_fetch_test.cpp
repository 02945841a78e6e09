#include "agent/pod_fetch.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace plim::agent {
namespace {

TEST(PodFetch, a_host_name_that_looks_like_a_tls_failure_is_not_one) {
  const Error refused =
      fail_errno(ECONNREFUSED, "connecting to ssl-certificate.example:10250: connect");
  EXPECT_EQ(failure_of(refused).reason, "connect");
}

}  // namespace
}  // namespace plim::agent
