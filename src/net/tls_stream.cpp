#include "net/tls_stream.hpp"

#include <cerrno>

#include <boost/asio/ip/address.hpp>

#include "net/openssl.hpp"
#include "net/tls_failure.hpp"

namespace plim::net {
namespace {

// Marks failures of TLS; none of our system calls returns this code.
constexpr int kTlsFailure = EPROTO;

Error tls_failure(std::string message) {
  Error error = fail(Code::unavailable, std::move(message));
  error.errno_value = kTlsFailure;
  return error;
}

// OpenSSL reports a connection that ends without close_notify as a TLS error.
bool is_lost(unsigned long code) {
  return ERR_GET_LIB(code) == ERR_LIB_SSL &&
         ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

}  // namespace

bool is_tls_failure(const Error& error) {
  return error.errno_value == kTlsFailure;
}

TlsStream::TlsStream(Socket socket, std::shared_ptr<const TlsContext> context)
    : ByteStream(std::move(socket)), context_(std::move(context)), ssl_(SSL_new(context_->get())) {
  PLIM_ASSERT(ssl_ != nullptr && SSL_set_fd(ssl_, socket_.native_handle()) == 1);
}

TlsStream::~TlsStream() {
  SSL_free(ssl_);
}

Task<Result<void>> TlsStream::connect(std::string host) {
  if (!context_->server_name().empty()) host = context_->server_name();
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(host, not_an_address);
  bool is_address = !not_an_address;
  if (context_->verifies_peer()) {
    X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl_);
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    int set = is_address ? X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str())
                         : X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size());
    if (set != 1) co_return fail(Code::invalid, fmt::format("cannot verify the name {}", host));
  }
  if (!is_address) SSL_set_tlsext_host_name(ssl_, host.c_str());
  SSL_set_connect_state(ssl_);
  Result<void> shaken = co_await handshake();
  if (!shaken) {
    long why = SSL_get_verify_result(ssl_);
    if (context_->verifies_peer() && why != X509_V_OK)
      co_return tls_failure(fmt::format("certificate of {} not accepted: {}", host,
                                        X509_verify_cert_error_string(why)));
  }
  co_return shaken;
}

Task<Result<void>> TlsStream::accept() {
  SSL_set_accept_state(ssl_);
  Result<void> shaken = co_await handshake();
  co_return shaken;
}

bool TlsStream::agreed_on_http2() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

Task<Result<void>> TlsStream::handshake() {
  for (;;) {
    if (is_closed()) co_return fail(Code::cancelled, "connection closed during TLS handshake");
    ERR_clear_error();
    errno = 0;
    int result = SSL_do_handshake(ssl_);
    if (result == 1) co_return Result<void>();
    Step next = step(result);
    if (next.state == Step::State::end)
      co_return tls_failure("peer closed the connection during TLS handshake");
    if (next.state == Step::State::failed) {
      Error error = last_error();
      co_return error.with_context("TLS handshake");
    }
    PLIM_CO_CHECK(co_await wait_for(next.state));
  }
}

ByteStream::Step TlsStream::try_read(std::span<char> into) {
  if (is_closed()) return step(-1);
  ERR_clear_error();
  errno = 0;
  std::size_t count = 0;
  int result = SSL_read_ex(ssl_, into.data(), into.size(), &count);
  return result == 1 ? Step{Step::State::done, count} : step(result);
}

ByteStream::Step TlsStream::try_write(std::string_view bytes) {
  if (is_closed()) return step(-1);
  ERR_clear_error();
  errno = 0;
  std::size_t count = 0;
  int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &count);
  return result == 1 ? Step{Step::State::done, count} : step(result);
}

ByteStream::Step TlsStream::step(int result) {
  if (is_closed()) {
    errno_ = 0;
    failure_ = "closed";
    return {Step::State::failed};
  }
  int system_error = errno;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return {Step::State::wants_read};
    case SSL_ERROR_WANT_WRITE:
      return {Step::State::wants_write};
    case SSL_ERROR_ZERO_RETURN:
      return {Step::State::end};
    case SSL_ERROR_SYSCALL:
      errno_ = system_error;
      failure_ = system_error == 0 ? "peer closed it without notice"
                                   : fail_errno(system_error, "TLS").message;
      break;
    default:
      errno_ = is_lost(ERR_peek_error()) ? 0 : kTlsFailure;
      failure_ = openssl_error();
      // OpenSSL's message for a peer without TLS, such as an http port.
      if (failure_ == "wrong version number") failure_ = "the peer does not speak TLS";
  }
  ERR_clear_error();
  return {Step::State::failed};
}

Error TlsStream::last_error() const {
  Error error = fail(Code::unavailable, "connection lost: " + failure_);
  error.errno_value = errno_;
  return error;
}

bool TlsStream::has_buffered() const {
  return SSL_has_pending(ssl_) == 1;
}

void TlsStream::send_end() {
  if (is_closed()) return;
  ERR_clear_error();
  if (SSL_is_init_finished(ssl_)) SSL_shutdown(ssl_);
  ERR_clear_error();
  ByteStream::send_end();
}

void TlsStream::describe_peer(Peer& peer) const {
  ByteStream::describe_peer(peer);
  X509* certificate = SSL_get0_peer_certificate(ssl_);
  if (!certificate || !context_->verifies_peer() || SSL_get_verify_result(ssl_) != X509_V_OK)
    return;
  auto names = subject_values(certificate, NID_commonName);
  if (!names.empty()) peer.certificate_user = names.back();
  peer.certificate_groups = subject_values(certificate, NID_organizationName);
}

}  // namespace plim::net
