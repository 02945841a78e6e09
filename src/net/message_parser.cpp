#include "net/message_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "net/gzip.hpp"

namespace plim::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using BeastView = boost::beast::string_view;

// Beast calls back while it parses; Head handles the start line.
template <bool is_request, class Head>
class Glue final : public http::basic_parser<is_request> {
 public:
  explicit Glue(std::size_t max_header) {
    this->header_limit(static_cast<std::uint32_t>(max_header));
    this->body_limit(boost::none);  // limit_ is checked instead, once the route is known
  }

  Head head;
  std::string body;
  std::size_t limit = kNoLimit;
  int version = 11;

 private:
  static std::string text(BeastView view) { return {view.data(), view.size()}; }

  void on_request_impl(http::verb, BeastView method, BeastView target, int v,
                       error_code& error) override {
    version = v;
    if constexpr (is_request) {
      head.method = text(method);
      std::string_view rest(target.data(), target.size());
      auto mark = rest.find('?');
      head.path = rest.substr(0, mark);
      if (mark != rest.npos) head.query = rest.substr(mark + 1);
    }
    error = {};
  }

  void on_response_impl(int status, BeastView, int v, error_code& error) override {
    version = v;
    if constexpr (!is_request) head.status = status;
    error = {};
  }

  void on_field_impl(http::field, BeastView name, BeastView value, error_code& error) override {
    // Trailers arrive here too, but must not change decisions made by the headers.
    if (!this->is_header_done()) head.headers.add(text(name), text(value));
    error = {};
  }

  void on_header_impl(error_code& error) override { error = {}; }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code& error) override {
    error = {};
  }

  std::size_t on_body_impl(BeastView bytes, error_code& error) override {
    return take(bytes, error);
  }

  void on_chunk_header_impl(std::uint64_t, BeastView, error_code& error) override { error = {}; }

  std::size_t on_chunk_body_impl(std::uint64_t, BeastView bytes, error_code& error) override {
    return take(bytes, error);
  }

  void on_finish_impl(error_code& error) override { error = {}; }

  std::size_t take(BeastView bytes, error_code& error) {
    seen_ += bytes.size();
    if (seen_ > limit) {
      error = http::make_error_code(http::error::body_limit);
      return 0;
    }
    body.append(bytes.data(), bytes.size());
    error = {};
    return bytes.size();
  }

  std::size_t seen_ = 0;
};

Error parse_error(const error_code& error) {
  if (error == http::error::header_limit) return fail(Code::too_large, "header is too large");
  if (error == http::error::body_limit) return fail(Code::too_large, "body is too large");
  if (error == http::error::partial_message)
    return fail(Code::unavailable, "connection ended in the middle of a message");
  return fail(Code::bad_request, "not valid HTTP/1.1: " + error.message());
}

template <class Interface, bool is_request, class Head>
class Parser final : public Interface {
 public:
  explicit Parser(std::size_t max_header) : glue_(max_header) {}

  Result<void> feed(InputBuffer& in) override {
    bool had_head = glue_.is_header_done();
    glue_.eager(had_head);
    while (!in.empty() && !glue_.is_done() && glue_.is_header_done() == had_head) {
      std::string_view data = in.data();
      if (half_chunk_header_ && data.size() < kShortestEnd) break;
      error_code error;
      in.consume(glue_.put(boost::asio::const_buffer(data.data(), data.size()), error));
      half_chunk_header_ = had_head && error == http::error::need_more;
      if (error == http::error::need_more) break;
      if (error) return parse_error(error);
    }
    return {};
  }

  Result<void> feed_end() override {
    if (!glue_.got_some())
      return fail(Code::unavailable, "connection ended before a message began");
    error_code error;
    if (!glue_.is_done()) glue_.put_eof(error);
    if (error) return parse_error(error);
    return {};
  }

  bool head_done() const override { return glue_.is_header_done(); }

  bool done() const override { return glue_.is_done(); }

  bool keep_alive() const override { return glue_.keep_alive(); }

  bool chunked() const override { return glue_.chunked(); }

  bool is_http10() const override { return glue_.version == 10; }

  std::optional<std::uint64_t> content_length() const override {
    auto length = glue_.content_length();
    return length ? std::optional<std::uint64_t>(*length) : std::nullopt;
  }

  void limit_body(std::size_t bytes) override { glue_.limit = bytes; }

  std::string take_body() override { return std::exchange(glue_.body, {}); }

  std::size_t body_size() const override { return glue_.body.size(); }

  Head& head() override { return glue_.head; }

  void skip_body() { glue_.skip(true); }

 private:
  // Beast asserts if it is called again for a last chunk with less than "0\r\n\r\n". If any part of
  // a chunk header is missing, at least this many bytes must follow.
  static constexpr std::size_t kShortestEnd = 5;

  Glue<is_request, Head> glue_;
  bool half_chunk_header_ = false;
};

}  // namespace

Result<std::string> take_plain_body(MessageParser& parser, Gunzip* gunzip) {
  std::string piece = parser.take_body();
  if (!gunzip) return piece;
  std::string plain;
  if (!piece.empty()) PLIM_CHECK(gunzip->feed(piece, plain));
  if (plain.empty() && parser.done()) PLIM_CHECK(gunzip->finish());
  return plain;
}

std::unique_ptr<RequestParser> RequestParser::make(std::size_t max_header) {
  return std::make_unique<Parser<RequestParser, true, Request>>(max_header);
}

std::unique_ptr<ResponseParser> ResponseParser::make(std::size_t max_header, bool bodiless) {
  auto made = std::make_unique<Parser<ResponseParser, false, Response>>(max_header);
  if (bodiless) made->skip_body();
  return made;
}

}  // namespace plim::net
