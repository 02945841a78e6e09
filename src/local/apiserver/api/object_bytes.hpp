// Objects as the store holds them: canonical JSON that begins with kind and apiVersion, followed by
// metadata, so that lists and watches are assembled from slices without parsing.
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "local/apiserver/api/kinds.hpp"
#include "local/store/entry.hpp"

namespace plim::local::apiserver {

// `{"kind":"Pod","apiVersion":"v1","metadata":{"name":…},…}` with this revision inside.
std::string encode_object(const Kind& kind, const json::value& object, store::Revision revision);

// What follows kind and apiVersion: `"metadata":{…},…}`.
std::string_view tail_of(std::string_view bytes);

// Adds the object as an item of a list: without kind and apiVersion.
void append_item(std::string& out, const Kind& kind, std::string_view bytes);
// Adds the object for a watch, with kind and apiVersion of `kind`: an object may be served in
// several versions, and events in two forms.
void append_object(std::string& out, const Kind& kind, std::string_view bytes);
// The same with another resourceVersion: that of the deletion, for a deleted object.
void append_object_at(std::string& out, const Kind& kind, std::string_view bytes,
                      store::Revision revision);

// Parses stored bytes. We encoded them, so this cannot fail.
json::value decode_object(std::string_view bytes);

}  // namespace plim::local::apiserver
