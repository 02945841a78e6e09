#include "local/apiserver/api/protobuf_body.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "kube/object.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}

// A field with a string or a message.
std::string part(unsigned number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

std::string number(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}

std::string sealed(std::string_view version, std::string_view kind, std::string_view object) {
  return std::string("k8s\0", 4) + part(1, part(1, version) + part(2, kind)) + part(2, object) +
         part(3, "") + part(4, "");
}

// As Go writes it, with empty strings and zero times.
std::string metadata(std::string_view name) {
  return part(1, name) + part(2, "") + part(3, "") + part(4, "") + part(5, "") + part(6, "") +
         number(7, 0) + part(8, "");
}

std::string pod() {
  const std::string port = part(1, "web") + number(2, 0) + number(3, 80) + part(4, "TCP");
  const std::string limits = part(1, part(1, "cpu") + part(2, part(1, "500m"))) +
                             part(1, part(1, "memory") + part(2, part(1, "1024Mi")));
  const std::string container = part(1, "c") + part(2, "app:1") + part(3, "sh") + part(3, "-c") +
                                part(6, port) + part(8, limits);
  const std::string host_path = part(1, part(1, "/data"));
  const std::string volume = part(1, "v") + part(2, host_path);
  const std::string spec = part(1, volume) + part(2, container) + part(3, "Never") + number(4, 5);
  return part(1, metadata("p") + part(11, part(1, "app") + part(2, "web"))) + part(2, spec) +
         part(3, "");
}

class ProtobufBodyTest : public ApiTest {
 protected:
  net::Response post(std::string_view path, std::string body) {
    return send("POST", path, std::move(body),
                {{"Content-Type", std::string(kProtobufType)},
                 {"Accept", "application/vnd.kubernetes.protobuf,application/json"}});
  }
};

TEST_F(ProtobufBodyTest, a_pod_is_the_same_as_from_json) {
  auto response = post("/api/v1/namespaces/default/pods", sealed("v1", "Pod", pod()));
  ASSERT_EQ(response.status, 201) << response.body;
  const json::value made = parsed(response.body);
  EXPECT_EQ(kube::name_of(made), "p");
  EXPECT_EQ(kube::label_of(made, "app"), "web");
  const json::value& container = made.at("spec").at("containers").at(0);
  EXPECT_EQ(text_at(container, {"image"}), "app:1");
  EXPECT_EQ(container.at("command"), json::value(json::array{"sh", "-c"}));
  EXPECT_EQ(int_at(container.at("ports").at(0), {"containerPort"}), 80);
  EXPECT_EQ(text_at(container, {"resources", "limits", "memory"}), "1Gi");
  EXPECT_EQ(text_at(made.at("spec").at("volumes").at(0), {"hostPath", "path"}), "/data");
  EXPECT_EQ(text_at(made, {"spec", "restartPolicy"}), "Never");
  EXPECT_EQ(int_at(made, {"spec", "terminationGracePeriodSeconds"}), 5);
}

TEST_F(ProtobufBodyTest, namespaces_leases_and_secrets) {
  auto made = post("/api/v1/namespaces", sealed("v1", "Namespace", part(1, metadata("a"))));
  EXPECT_EQ(made.status, 201) << made.body;
  const std::string time = number(1, 1'700'000'000) + number(2, 123'456'000);
  const std::string lease = part(1, metadata("l")) +
                            part(2, part(1, "me") + number(2, 15) + part(3, time) + part(4, time));
  made = post("/apis/coordination.k8s.io/v1/namespaces/a/leases",
              sealed("coordination.k8s.io/v1", "Lease", lease));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(text_at(parsed(made.body), {"spec", "renewTime"}), "2023-11-14T22:13:20.123456Z");
  const std::string secret =
      part(1, metadata("s")) + part(2, part(1, "key") + part(2, "\x01\xff")) + part(3, "Opaque");
  made = post("/api/v1/namespaces/a/secrets", sealed("v1", "Secret", secret));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(text_at(parsed(made.body), {"data", "key"}), "Af8=");
}

TEST_F(ProtobufBodyTest, delete_options) {
  ASSERT_EQ(post("/api/v1/namespaces/default/pods", sealed("v1", "Pod", pod())).status, 201);
  auto refused = send("DELETE", "/api/v1/namespaces/default/pods/p",
                      sealed("v1", "DeleteOptions", part(2, part(1, "wrong-uid"))),
                      {{"Content-Type", std::string(kProtobufType)}});
  EXPECT_EQ(refused.status, 409) << refused.body;
}

TEST_F(ProtobufBodyTest, broken_bodies_are_rejected) {
  const std::string good = sealed("v1", "Pod", pod());
  EXPECT_EQ(post("/api/v1/namespaces/default/pods", "{}").status, 400);
  EXPECT_EQ(post("/api/v1/namespaces/default/services", good).status, 400);
  for (std::size_t size = 0; size + 20 < good.size(); size += 3)
    EXPECT_GE(post("/api/v1/namespaces/default/pods?dryRun=All", good.substr(0, size)).status, 400);
  SeededRandom random(1);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    bad[4 + random.below(bad.size() - 4)] = static_cast<char>(random.below(256));
    const int status = post("/api/v1/namespaces/default/pods?dryRun=All", bad).status;
    EXPECT_TRUE(status == 201 || (status >= 400 && status < 500)) << status;
  }
  std::string deep;
  for (int i = 0; i < 5'000; ++i) deep = part(1, deep);
  EXPECT_LT(post("/api/v1/namespaces/default/pods", sealed("v1", "Pod", deep)).status, 500);
}

}  // namespace
}  // namespace plim::local::apiserver::testing
