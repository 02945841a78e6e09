// In which order certificates are written, and what happens when a write fails.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/loop.hpp"
#include "kube/testing/stub_client.hpp"
#include "webhook/certs.hpp"

namespace plim::webhook {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSecrets = "secrets";
constexpr const char* kConfigurations = "mutatingwebhookconfigurations";

// Has one object of each kind.
class FewObjects final : public plim::testing::StubClient {
 public:
  Answer<json::value> get(Resource resource, Path) override {
    const auto found = objects.find(resource.plural);
    if (found == objects.end()) co_return fail(Code::not_found, "no such object");
    co_return found->second;
  }

  Answer<json::value> create(Resource resource, Path, json::value object,
                             kube::WriteOptions) override {
    co_return write(resource.plural, std::move(object));
  }

  Answer<json::value> update(Resource resource, Path, json::value object,
                             kube::WriteOptions) override {
    co_return write(resource.plural, std::move(object));
  }

  std::string pem_in_secret(std::string_view key) const {
    return *base64_decode(text_at(objects.at(kSecrets), {"data", key}));
  }

  std::string bundle() const {
    const json::value& webhook =
        objects.at(kConfigurations).as_object().at("webhooks").as_array().at(0);
    return *base64_decode(text_at(webhook, {"clientConfig", "caBundle"}));
  }

  std::map<std::string, json::value, std::less<>> objects;  // by the plural of their kind
  std::vector<std::string> written;
  std::string refused;  // writes of this kind fail

 private:
  Result<json::value> write(const std::string& plural, json::value object) {
    if (plural == refused) return fail(Code::forbidden, "not allowed");
    written.push_back(plural);
    return objects[plural] = std::move(object);
  }
};

class CertKeepingTest : public ::testing::Test {
 protected:
  CertKeepingTest() {
    client_->objects[kConfigurations] = *parse_json(R"({"webhooks":[{"clientConfig":{}}]})", "");
    EXPECT_TRUE(ensure(Rotate::when_due));
    EXPECT_THAT(client_->written, ElementsAre(kSecrets, kConfigurations, kSecrets))
        << "a Secret without data comes first";
    client_->written.clear();
  }

  Result<CertState> ensure(Rotate rotate) {
    CertSettings settings;
    settings.rotate = rotate;
    return run_to_end(loop_, ensure_certificates(client_, settings, clock_));
  }

  Loop loop_;
  FakeClock clock_;
  std::shared_ptr<FewObjects> client_ = std::make_shared<FewObjects>();
};

TEST_F(CertKeepingTest, writes_a_new_authority_before_the_certificate_that_it_signed) {
  const std::string before = client_->pem_in_secret("ca.pem");
  ASSERT_TRUE(ensure(Rotate::authority));
  EXPECT_THAT(client_->written, ElementsAre(kConfigurations, kSecrets));
  EXPECT_NE(client_->pem_in_secret("ca.pem"), before);
  EXPECT_THAT(client_->bundle(), HasSubstr(before)) << "servers still have the old certificate";
  EXPECT_EQ(client_->bundle(), client_->pem_in_secret("ca.pem"));
}

TEST_F(CertKeepingTest, keeps_the_certificate_if_the_new_authority_cannot_be_written) {
  const json::value before = client_->objects[kSecrets];
  client_->refused = kConfigurations;
  const auto refused = ensure(Rotate::authority);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("writing MutatingWebhookConfiguration"));
  EXPECT_EQ(client_->objects[kSecrets], before);
}

TEST_F(CertKeepingTest, hands_out_no_certificate_that_is_not_in_the_secret) {
  const std::string before = client_->pem_in_secret("ca.pem");
  client_->refused = kSecrets;
  const auto refused = ensure(Rotate::authority);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("writing Secret"));
  EXPECT_THAT(client_->bundle(), HasSubstr(before));
}

}  // namespace
}  // namespace plim::webhook
