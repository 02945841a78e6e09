#include "net/tls_context.hpp"

#include <csignal>
#include <string_view>

#include "net/openssl.hpp"

namespace plim::net {
namespace {

// SSL_write on a descriptor raises SIGPIPE if the peer is gone, and no flag prevents that.
void ignore_sigpipe() {
  [[maybe_unused]] static const bool once = [] { return std::signal(SIGPIPE, SIG_IGN), true; }();
}

Result<void> use_certificate(SSL_CTX* context, std::string_view certificate_pem,
                             std::string_view key_pem) {
  PLIM_TRY(auto chain, read_certificates(certificate_pem));
  PLIM_TRY(KeyPtr key, read_private_key(key_pem));
  ERR_clear_error();
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1)
    return fail(Code::invalid, "certificate not usable: " + openssl_error());
  for (std::size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1)
      return fail(Code::invalid, "certificate chain not usable: " + openssl_error());
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return fail(Code::invalid, "private key does not match the certificate: " + openssl_error());
  return {};
}

Result<void> trust(SSL_CTX* context, std::string_view ca_pem) {
  PLIM_TRY(auto authorities, read_certificates(ca_pem));
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const auto& authority : authorities) X509_STORE_add_cert(store, authority.get());
  ERR_clear_error();  // adding the same authority twice is harmless
  return {};
}

// In our order of preference, in the format of ALPN.
constexpr std::string_view kHttp1 = "\x08http/1.1";
constexpr std::string_view kHttp2Too = "\x02h2\x08http/1.1";

// A client that offers only other protocols gets HTTP/1.1, as without the extension.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned offered_size, void* ours) {
  const auto& names = *static_cast<const std::string_view*>(ours);
  unsigned char* chosen = nullptr;
  int found =
      SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(names.data()),
                            static_cast<unsigned>(names.size()), offered, offered_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

SSL_CTX* make_context(const SSL_METHOD* method) {
  ignore_sigpipe();
  SSL_CTX* context = SSL_CTX_new(method);
  PLIM_ASSERT(context != nullptr);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // From TLS 1.2 only ciphers as strong as those of 1.3: forward secrecy and authenticated
  // encryption.
  PLIM_ASSERT(SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1);
  // For thousands of idle watches: no buffers without traffic, no sessions kept for resumption.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);  // reads a record with one call instead of two
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE);
  return context;
}

}  // namespace

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

Result<std::shared_ptr<const TlsContext>> TlsContext::for_client(const ClientTls& tls) {
  std::shared_ptr<TlsContext> made(new TlsContext(make_context(TLS_client_method())));
  made->server_name_ = tls.server_name;
  made->verifies_peer_ = !tls.insecure;
  if (!tls.insecure) {
    SSL_CTX_set_verify(made->context_, SSL_VERIFY_PEER, nullptr);
    if (tls.ca_pem.empty()) {
      SSL_CTX_set_default_verify_paths(made->context_);
    } else if (auto trusted = trust(made->context_, tls.ca_pem); !trusted) {
      return trusted.error().with_context("certificate authority");
    }
  }
  if (!tls.certificate_pem.empty()) {
    if (auto used = use_certificate(made->context_, tls.certificate_pem, tls.key_pem); !used)
      return used.error().with_context("client certificate");
  }
  return std::shared_ptr<const TlsContext>(std::move(made));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::for_server(const ServerTls& tls,
                                                                 Offer offer) {
  std::shared_ptr<TlsContext> made(new TlsContext(make_context(TLS_server_method())));
  const std::string_view& names = offer == Offer::http2_too ? kHttp2Too : kHttp1;
  SSL_CTX_set_alpn_select_cb(made->context_, choose_protocol,
                             const_cast<std::string_view*>(&names));
  if (auto used = use_certificate(made->context_, tls.certificate_pem, tls.key_pem); !used)
    return used.error().with_context("server certificate");
  if (tls.client_ca_pem.empty()) {
    if (tls.require_client_certificate)
      return fail(Code::invalid, "client certificates are required but no authority is given");
    return std::shared_ptr<const TlsContext>(std::move(made));
  }
  if (auto trusted = trust(made->context_, tls.client_ca_pem); !trusted)
    return trusted.error().with_context("client certificate authority");
  PLIM_TRY(auto authorities, read_certificates(tls.client_ca_pem));
  for (const auto& authority : authorities) SSL_CTX_add_client_CA(made->context_, authority.get());
  made->verifies_peer_ = true;
  int require = tls.require_client_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_CTX_set_verify(made->context_, SSL_VERIFY_PEER | require, nullptr);
  return std::shared_ptr<const TlsContext>(std::move(made));
}

}  // namespace plim::net
