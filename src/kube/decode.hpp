// Decodes JSON from an API server into the structs of kube/types.hpp, in one pass without a tree.
// Unknown fields are skipped, and null counts as absent. The error for a field of the wrong type
// names the field: "spec.containers[1].image: expected a string".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "kube/types.hpp"

namespace plim::kube {

// A JSON text with readable memory after it, which the parser's wide loads need. Also a slice of
// such a text. Refers to the buffer, which must not change.
class JsonText {
 public:
  static constexpr std::size_t kPadding = 64;

  // Reserves padding after `buffer`; costs nothing if its capacity suffices.
  explicit JsonText(std::string& buffer) {
    buffer.reserve(buffer.size() + kPadding);
    text_ = buffer;
  }

  std::string_view view() const { return text_; }

  // `part` must be a part of this text.
  JsonText slice(std::string_view part) const { return JsonText(part); }

 private:
  explicit JsonText(std::string_view text) : text_(text) {}

  std::string_view text_;
};

struct ListMeta {
  std::string resource_version;
  std::string continue_token;
  std::int64_t remaining = 0;
};

// Called with every item in order, without a copy: pods are large. An error of it ends decoding and
// is returned. It must not decode a list itself.
template <class T>
using Visit = std::function<Result<void>(std::shared_ptr<const T> item)>;
using VisitText = std::function<Result<void>(JsonText item)>;

Result<Pod> decode_pod(JsonText text, InternPool& pool);
Result<ListMeta> decode_pods(JsonText list, InternPool& pool, const Visit<Pod>& visit);
Result<Node> decode_node(JsonText text, InternPool& pool);
Result<ListMeta> decode_nodes(JsonText list, InternPool& pool, const Visit<Node>& visit);
// The metadata of any object, for caches that need only that.
Result<ObjectMeta> decode_meta(JsonText text, InternPool& pool);
// Any list; its items stay JSON.
Result<ListMeta> decode_list(JsonText list, const VisitText& visit);

// How a cache of T decodes its JSON.
template <class T>
struct Codec {
  std::function<Result<T>(JsonText object)> one;
  std::function<Result<ListMeta>(JsonText list, const Visit<T>& visit)> list;
};

// The pool must outlive the codec.
Codec<Pod> pod_codec(InternPool& pool);
Codec<Node> node_codec(InternPool& pool);
Codec<ObjectMeta> meta_codec(InternPool& pool);

// A codec made from a decoder of single objects; `one` is also called for every item of a list.
template <class T>
Codec<T> codec_of(std::function<Result<T>(JsonText object)> one) {
  auto list = [one](JsonText text, const Visit<T>& visit) {
    return decode_list(text, [&](JsonText item) -> Result<void> {
      PLIM_TRY(T made, one(item));
      return visit(std::make_shared<const T>(std::move(made)));
    });
  };
  return {std::move(one), std::move(list)};
}

struct WatchEvent {
  enum class Type { added, modified, deleted, bookmark, error };

  Type type = Type::error;
  std::string_view object;          // its JSON, inside the text that was decoded
  std::string resource_version;     // of the object; "" for errors
  bool initial_events_end = false;  // the bookmark that ends the initial events of a WatchList
  Error error = {};                 // from the Status of an ERROR event
};

Result<WatchEvent> decode_watch_event(JsonText text);

}  // namespace plim::kube
