#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <libfyaml.h>

#include "base/yaml.hpp"
#include "base/yaml_scalar.hpp"
#include "base/yaml_source.hpp"

namespace plim {
namespace {

// Limit of bytes that anchors and aliases may copy; otherwise a few kilobytes of nested aliases
// would fill the memory.
constexpr std::size_t kMaxCopiedBytes = 32 << 20;
constexpr std::size_t kNodeBytes = 64;
constexpr std::string_view kYamlTag = "tag:yaml.org,2002:";

struct ParserDeleter {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};

struct DiagDeleter {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};

struct EventDeleter {
  fy_parser* parser;

  void operator()(fy_event* event) const { fy_parser_event_free(parser, event); }
};

using EventPtr = std::unique_ptr<fy_event, EventDeleter>;

std::string_view token_text(fy_token* token) {
  std::size_t length = 0;
  const char* text = token ? fy_token_get_text(token, &length) : nullptr;
  return text ? std::string_view(text, length) : std::string_view();
}

TextPosition to_position(const fy_mark& mark) {
  return {.line = mark.line + 1, .column = mark.column + 1};
}

// The offset of a byte that YAML does not allow in its text.
std::optional<std::size_t> find_foreign_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) return i;
  }
  return find_invalid_utf8(text);
}

// With "%YAML 1.1", libfyaml 0.7.12 treats these as line ends and then returns uninitialized bytes.
std::optional<std::size_t> find_old_line_end(std::string_view text) {
  if (text.find("%YAML") == text.npos) return std::nullopt;
  std::size_t found = text.npos;
  for (std::string_view character : {"\u0085", "\u2028", "\u2029"})
    found = std::min(found, text.find(character));
  return found == text.npos ? std::nullopt : std::optional(found);
}

// The key as sigs.k8s.io/yaml writes it: numbers and booleans become strings.
Result<std::string> key_text(const json::value& key) {
  switch (key.kind()) {
    case json::kind::string:
      return std::string(key.get_string());
    case json::kind::double_:
      // sigs.k8s.io/yaml uses single precision, and ".inf" for larger values.
      if (std::abs(key.get_double()) > std::numeric_limits<float>::max())
        return std::string(key.get_double() < 0 ? "-.inf" : ".inf");
      return format_double(static_cast<float>(key.get_double()), kYamlDouble);
    case json::kind::null:
      return fail(Code::invalid, "expected a key, found null");
    case json::kind::array:
    case json::kind::object:
      return fail(Code::invalid, "expected a scalar as key, found a collection");
    default:
      return to_json(key);
  }
}

}  // namespace

// Turns the parser's events into documents. Frames hold the open collections, so that nesting needs
// no stack.
class YamlBuilder {
 public:
  YamlBuilder(std::string_view text, std::string_view source, YamlOptions options)
      : text_(text), source_(source), options_(options) {}

  Result<std::vector<YamlDocument>> run() {
    if (text_.size() > options_.max_bytes) {
      return fail(Code::too_large, fmt::format("{}: {} bytes of YAML, expected at most {}", source_,
                                               text_.size(), options_.max_bytes));
    }
    if (auto foreign = find_foreign_byte(text_)) {
      return located_error(position_of(text_, *foreign),
                           fmt::format("byte 0x{:02x} is not allowed in YAML text",
                                       static_cast<unsigned char>(text_[*foreign])));
    }
    if (auto line_end = find_old_line_end(text_)) {
      return located_error(
          position_of(text_, *line_end),
          "expected this line separator as an escape, since there is a %YAML line");
    }
    PLIM_CHECK(open());
    while (EventPtr event{fy_parser_parse(parser_.get()), EventDeleter{parser_.get()}}) {
      PLIM_CHECK(handle(*event));
    }
    if (fy_parser_get_stream_error(parser_.get())) return parser_error();
    return std::move(documents_);
  }

 private:
  using Node = YamlDocument::Node;

  // A value with its position and tag.
  struct Item {
    json::value value;
    Node node;
    std::size_t bytes = kNodeBytes;
    std::size_t height = 0;  // levels of collections below and including this one
  };

  struct Frame {
    Item item;
    std::string anchor;
    // For a mapping: the key whose value comes next, and what "<<" adds at the end.
    std::optional<std::string> key;
    TextPosition key_at;
    bool merging = false;
    std::vector<Item> merges;
  };

  Result<void> open() {
    fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = nullptr;
    diag_config.output_fn = [](fy_diag*, void*, const char*, std::size_t) {};
    diag_config.colorize = false;
    diag_.reset(fy_diag_create(&diag_config));
    if (!diag_) return fail(Code::internal, "libfyaml could not start");
    fy_diag_set_collect_errors(diag_.get(), true);

    fy_parse_cfg config{};
    // Events need no recursion, so we limit the depth ourselves.
    config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_DISABLE_DEPTH_LIMIT |
                                                   FYPCF_SLOPPY_FLOW_INDENTATION | FYPCF_JSON_NONE);
    config.diag = diag_.get();
    parser_.reset(fy_parser_create(&config));
    if (!parser_ || fy_parser_set_string(parser_.get(), text_.data(), text_.size()) != 0)
      return fail(Code::internal, "libfyaml could not start");
    return {};
  }

  Error located_error(TextPosition position, std::string_view message) const {
    return fail(Code::invalid, located(source_, position, message));
  }

  Error parser_error() const {
    void* previous = nullptr;
    while (const fy_diag_error* error = fy_diag_errors_iterate(diag_.get(), &previous)) {
      if (error->type == FYET_ERROR && error->msg)
        return located_error({.line = error->line, .column = error->column}, error->msg);
    }
    return located_error(at_, "not valid YAML after this point");
  }

  Result<void> handle(fy_event& event) {
    if (const fy_mark* mark = fy_event_start_mark(&event)) at_ = to_position(*mark);
    switch (event.type) {
      case FYET_DOCUMENT_START:
        anchors_.clear();
        return {};
      case FYET_SCALAR:
        return scalar(event);
      case FYET_ALIAS:
        --at_.column;  // the parser points to the position after the star
        return alias(token_text(event.alias.anchor));
      case FYET_SEQUENCE_START:
        return begin(json::array(), event.sequence_start.anchor, event.sequence_start.tag);
      case FYET_MAPPING_START:
        return begin(json::object(), event.mapping_start.anchor, event.mapping_start.tag);
      case FYET_SEQUENCE_END:
      case FYET_MAPPING_END:
        return end();
      default:
        return {};
    }
  }

  std::shared_ptr<const std::string> local_tag(std::string_view tag) const {
    if (tag.size() < 2 || tag.front() != '!') return nullptr;
    return std::make_shared<const std::string>(tag.substr(1));
  }

  bool expects_key() const {
    return !frames_.empty() && frames_.back().item.value.is_object() && !frames_.back().key &&
           !frames_.back().merging;
  }

  // The parser's text, or our own where the parser has bugs (yaml_source.hpp).
  std::string_view scalar_text(fy_token* token, std::string& buffer) const {
    if (!token) return {};
    auto style = fy_token_scalar_style(token);
    if (style != FYSS_SINGLE_QUOTED && style != FYSS_FOLDED) return token_text(token);
    std::size_t start = fy_token_start_mark(token)->input_pos;
    std::string_view raw = text_.substr(start, fy_token_end_mark(token)->input_pos - start);
    if (style == FYSS_SINGLE_QUOTED)
      return raw.find("''''") == raw.npos ? token_text(token) : buffer = read_single_quoted(raw);
    std::string_view before = text_.substr(0, std::max<std::size_t>(start, 1) - 1);
    BlockHeader header = read_block_header(before.substr(before.rfind('\n') + 1), '>');
    if (header.has_indentation || raw.find('\r') != raw.npos) return token_text(token);
    return buffer = read_folded_block(raw, header.chomping);
  }

  Result<void> scalar(fy_event& event) {
    std::string unquoted;
    std::string_view text = scalar_text(event.scalar.value, unquoted);
    std::string_view tag = token_text(event.scalar.tag);
    bool plain = !event.scalar.value || fy_token_scalar_style(event.scalar.value) == FYSS_PLAIN;
    if (!plain && fy_token_scalar_style(event.scalar.value) <= FYSS_DOUBLE_QUOTED)
      --at_.column;  // the parser points to the position after the quote
    if (event.scalar.tag && !event.scalar.value)
      at_ = to_position(*fy_token_start_mark(event.scalar.tag));
    // Only escapes can produce such characters; otherwise it is a bug of the parser.
    bool has_escapes = !plain && fy_token_scalar_style(event.scalar.value) == FYSS_DOUBLE_QUOTED;
    if (!has_escapes && find_foreign_byte(text))
      return located_error(at_, "this text cannot be read, write it in double quotes");
    if (plain && tag.empty() && text == "<<" && expects_key()) {
      frames_.back().merging = true;
      return {};
    }
    auto resolved = tag.starts_with(kYamlTag)
                        ? resolve_tagged_scalar(tag.substr(kYamlTag.size()), text)
                    : plain && tag.empty() ? resolve_plain_scalar(text)
                                           : Result<json::value>(json::value(text));
    if (!resolved) return located_error(at_, resolved.error().message);
    Item item{.value = std::move(*resolved),
              .node = {.at = at_, .key_at = {}, .tag = local_tag(tag), .children = {}},
              .bytes = kNodeBytes + text.size()};
    return add(std::move(item), token_text(event.scalar.anchor));
  }

  Result<void> alias(std::string_view name) {
    auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      return located_error(at_, fmt::format("alias *{} has no anchor &{} before it", name, name));
    }
    PLIM_CHECK(count_copy(found->second));
    if (frames_.size() + found->second.height > kMaxJsonDepth) return too_deep();
    return add(found->second, {});
  }

  Result<void> count_copy(const Item& item) {
    copied_bytes_ += item.bytes;
    if (copied_bytes_ <= kMaxCopiedBytes) return {};
    return located_error(at_, fmt::format("aliases make more than {} bytes", kMaxCopiedBytes));
  }

  Error too_deep() const {
    return located_error(at_, fmt::format("nested more than {} levels deep", kMaxJsonDepth));
  }

  Result<void> begin(json::value empty, fy_token* anchor, fy_token* tag) {
    if (expects_key()) return located_error(at_, "expected a scalar as key, found a collection");
    if (frames_.size() >= kMaxJsonDepth) return too_deep();
    Frame frame;
    frame.item.value = std::move(empty);
    frame.item.node.at = at_;
    frame.item.node.tag = local_tag(token_text(tag));
    frame.item.height = 1;
    frame.anchor = token_text(anchor);
    frames_.push_back(std::move(frame));
    return {};
  }

  Result<void> end() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    // Own keys take precedence over merged ones, and earlier merged ones over later ones.
    for (Item& merge : frame.merges) {
      json::object& object = frame.item.value.get_object();
      std::size_t index = 0;
      for (json::key_value_pair& member : merge.value.get_object()) {
        Node& node = merge.node.children[index++];
        if (object.emplace(member.key(), std::move(member.value())).second)
          frame.item.node.children.push_back(std::move(node));
      }
    }
    return add(std::move(frame.item), frame.anchor);
  }

  // Adds a complete value to the open collection, or makes it the document.
  Result<void> add(Item item, std::string_view anchor) {
    if (!anchor.empty()) {
      PLIM_CHECK(count_copy(item));
      anchors_.insert_or_assign(std::string(anchor), item);
    }
    if (frames_.empty()) {
      add_document(std::move(item));
      return {};
    }
    Frame& frame = frames_.back();
    if (expects_key()) return set_key(item);
    frame.item.bytes += item.bytes;
    frame.item.height = std::max(frame.item.height, item.height + 1);
    if (frame.merging) return merge(std::move(item));
    if (frame.item.value.is_array()) {
      item.node.key_at = item.node.at;
      frame.item.value.get_array().push_back(std::move(item.value));
      frame.item.node.children.push_back(std::move(item.node));
      return {};
    }
    item.node.key_at = frame.key_at;
    json::object& object = frame.item.value.get_object();
    std::string key = *std::exchange(frame.key, std::nullopt);
    frame.item.bytes += key.size();
    auto [member, is_new] = object.emplace(key, nullptr);
    auto index = static_cast<std::size_t>(member - object.begin());
    member->value() = std::move(item.value);
    if (is_new)
      frame.item.node.children.push_back(std::move(item.node));
    else
      frame.item.node.children[index] = std::move(item.node);
    return {};
  }

  Result<void> set_key(const Item& item) {
    Frame& frame = frames_.back();
    auto key = key_text(item.value);
    if (!key) return located_error(at_, key.error().message);
    const json::object& object = frame.item.value.get_object();
    auto first = object.find(*key);
    if (first != object.end() && options_.duplicate_keys == DuplicateKeys::refuse) {
      TextPosition at =
          frame.item.node.children[static_cast<std::size_t>(first - object.begin())].key_at;
      return located_error(at_, fmt::format("key {} is already used on line {}, column {}",
                                            quote(*key), at.line, at.column));
    }
    frame.key = std::move(*key);
    frame.key_at = at_;
    return {};
  }

  Result<void> merge(Item item) {
    Frame& frame = frames_.back();
    frame.merging = false;
    if (item.value.is_object()) {
      frame.merges.push_back(std::move(item));
      return {};
    }
    bool good = item.value.is_array();
    for (std::size_t i = 0; good && i < item.node.children.size(); ++i) {
      json::value& element = item.value.get_array()[i];
      good = element.is_object();
      frame.merges.push_back(
          {.value = std::move(element), .node = std::move(item.node.children[i])});
    }
    if (good) return {};
    return located_error(item.node.at, "expected a mapping or a list of mappings after <<");
  }

  void add_document(Item item) {
    YamlDocument document;
    document.source_ = source_;
    document.value_ = std::move(item.value);
    document.root_ = std::move(item.node);
    document.root_.key_at = document.root_.at;
    documents_.push_back(std::move(document));
  }

  std::string_view text_;
  std::string source_;
  YamlOptions options_;
  std::unique_ptr<fy_diag, DiagDeleter> diag_;
  std::unique_ptr<fy_parser, ParserDeleter> parser_;
  TextPosition at_;  // of the latest event with a position
  std::vector<Frame> frames_;
  std::map<std::string, Item, std::less<>> anchors_;
  std::size_t copied_bytes_ = 0;
  std::vector<YamlDocument> documents_;
};

Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text,
                                                       std::string_view source,
                                                       YamlOptions options) {
  PLIM_TRY(auto documents, YamlBuilder(text, source, options).run());
  std::erase_if(documents, [](const YamlDocument& document) { return document.value().is_null(); });
  return documents;
}

Result<YamlDocument> parse_yaml_document(std::string_view text, std::string_view source,
                                         YamlOptions options) {
  PLIM_TRY(auto documents, YamlBuilder(text, source, options).run());
  if (documents.size() > 1)
    return documents[1].error_at("", "expected one YAML document, found a second one");
  if (documents.empty()) return YamlBuilder("~", source, options).run()->front();
  return std::move(documents.front());
}

Result<json::value> parse_yaml(std::string_view text, std::string_view source,
                               YamlOptions options) {
  PLIM_TRY(auto document, parse_yaml_document(text, source, options));
  return std::move(document).take();
}

}  // namespace plim
