#include "net/x509.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/fixture.hpp"

namespace plim::net {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(X509, reads_back_what_it_issued) {
  auto info = read_certificate(Certificates::get().server.certificate_pem);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->common_name, "server");
  EXPECT_THAT(info->dns_names, ElementsAre("localhost", "api.example"));
  EXPECT_THAT(info->ip_addresses, ElementsAre("127.0.0.1", "::1"));
  EXPECT_FALSE(info->is_authority);
  EXPECT_LT(info->not_before, info->not_after);
  auto authority = read_certificate(Certificates::get().authority.certificate_pem);
  EXPECT_TRUE(authority->is_authority);
}

TEST(X509, openssl_accepts_the_chain) {
  const auto& pki = Certificates::get();
  TempDir dir;
  std::string ca = dir.write("ca.pem", pki.authority.certificate_pem);
  std::string server = dir.write("server.pem", pki.server.certificate_pem);
  std::string client = dir.write("client.pem", pki.client.certificate_pem);
  std::string verify = "openssl verify -x509_strict -CAfile " + ca;
  EXPECT_THAT(run_command(verify + " -purpose sslserver -verify_ip 127.0.0.1 " + server),
              HasSubstr(": OK"));
  EXPECT_THAT(run_command(verify + " -purpose sslclient " + client), HasSubstr(": OK"));
  EXPECT_THAT(run_command(verify + " -purpose sslclient " + server),
              HasSubstr("unsuitable certificate purpose"));
  EXPECT_THAT(run_command(verify + " -verify_hostname other.example " + server),
              HasSubstr("hostname mismatch"));
}

TEST(X509, verify_reports_wrong_key_wrong_authority_and_expiry) {
  const auto& pki = Certificates::get();
  auto now = days_from_now(0);
  auto verify = [&](const KeyPair& pair, const std::string& key, const KeyPair& ca, WallTime at) {
    auto result = verify_certificate(pair.certificate_pem, key, ca.certificate_pem, at);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(verify(pki.server, pki.server.key_pem, pki.authority, now), "");
  EXPECT_THAT(verify(pki.server, pki.client.key_pem, pki.authority, now), HasSubstr("key"));
  auto other = make_authority("other", days_from_now(-1), days_from_now(1)).value();
  EXPECT_THAT(verify(pki.server, pki.server.key_pem, other, now), HasSubstr("issuer"));
  EXPECT_THAT(verify(pki.server, pki.server.key_pem, pki.authority, days_from_now(11)),
              HasSubstr("expired"));
}

TEST(X509, rejects_what_is_not_pem) {
  EXPECT_FALSE(read_certificate(""));
  EXPECT_FALSE(read_certificate("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
  auto bad_ip = issue_certificate(Certificates::get().authority, {.common_name = "x",
                                                                  .ip_addresses = {"1.2.3"},
                                                                  .not_before = days_from_now(0),
                                                                  .not_after = days_from_now(1)});
  ASSERT_FALSE(bad_ip);
  EXPECT_THAT(bad_ip.error().message, HasSubstr("1.2.3"));
}

TEST(X509, rejects_a_certificate_named_like_its_issuer) {
  auto same = issue_certificate(Certificates::get().authority, {.common_name = "test authority",
                                                                .not_before = days_from_now(0),
                                                                .not_after = days_from_now(1)});
  ASSERT_FALSE(same);
  EXPECT_THAT(same.error().message, HasSubstr("name of its issuer"));
}

TEST(Signing, verifies_its_own_signatures_only) {
  auto key = make_signing_key().value();
  auto signature = sign_sha256(key, "data").value();
  EXPECT_EQ(signature.size(), 64u);
  EXPECT_TRUE(verify_sha256(key, "data", signature).value());
  EXPECT_FALSE(verify_sha256(key, "datb", signature).value());
  EXPECT_FALSE(verify_sha256(key, "data", "short").value());
  EXPECT_FALSE(verify_sha256(make_signing_key().value(), "data", signature).value());
}

TEST(Signing, works_with_openssl_and_rsa_keys) {
  TempDir dir;
  std::string key = run_command("openssl genrsa 2048 2>/dev/null");
  std::string key_file = dir.write("key.pem", key);
  std::string public_key = run_command("openssl rsa -in " + key_file + " -pubout 2>/dev/null");
  auto signature = sign_sha256(key, "data").value();
  EXPECT_TRUE(verify_sha256(public_key, "data", signature).value());
  std::string public_file = dir.write("pub.pem", public_key);
  std::string verified =
      run_command("openssl dgst -sha256 -verify " + public_file + " -signature " +
                  dir.write("sig", signature) + " " + dir.write("data", "data"));
  EXPECT_THAT(verified, HasSubstr("Verified OK"));
}

TEST(Sha256, matches_a_known_digest) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace plim::net
