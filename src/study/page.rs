//! Pages of HTML that open from disk: one file with everything in it, and no address. They follow the reader's light or dark
//! setting. Knows nothing of what they are about.

use sim::files::output::HTML_BEGINNING;
use sim::words::prose::escape;

const STYLE: &str = include_str!("page.css");

/// The whole of a page: what every one of ours begins and ends with, around `body`; `style` is what this one has beside.
pub fn whole(title: &str, style: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "{HTML_BEGINNING}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}
