//! The server: loopback only, every address behind a random token, one page, no file of the machine but the runs shown.
//!
//! | address after `/TOKEN/` | answer |
//! | --- | --- |
//! | nothing, `page.js`, `page.css` | the page |
//! | `scene` | JSON: the runs shown |
//! | `run/K/rows/FROM/TO` | a block |
//! | `run/K/signal?name=NAME` | f64 pairs: time, value |
//! | `run/K/events` | JSON |
//! | `html` | the first run as a standalone page |
//! | `live` | WebSocket: blocks of the run going on; JSON when the stage changes |
//!
//! Another site's page cannot reach it: names other than this machine's own in `Host` (a rebound domain) and foreign
//! `Origin`s are refused, and nobody guesses the token. The page may run its own script and nothing else.

use crate::live::{Grip, Live};
use crate::page::{Page, page};
use crate::{Recorded, ViewerError, standalone};
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The first port tried where none is asked for.
const FIRST_PORT: u16 = 7878;
/// Ports tried, one after the other.
const PORTS: u16 = 100;
/// What the page may load: its own script and style, pictures and films it made itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; media-src blob:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What is on show.
#[derive(Default)]
struct Stage {
    runs: Vec<Shown>,
    /// Why nothing is shown.
    trouble: Option<String>,
}

enum Shown {
    Recorded(Arc<Recorded>),
    Live(Arc<Live>),
}

struct Shared {
    page: Page,
    port: u16,
    stage: Mutex<Stage>,
    /// Counts changes of the stage.
    generation: watch::Sender<u64>,
}

/// A viewer that is being served; it ends with the program.
pub struct Viewer {
    shared: Arc<Shared>,
    url: String,
}

impl Viewer {
    /// Starts serving, on this port or the first free one.
    pub fn start(port: Option<u16>) -> Result<Viewer, ViewerError> {
        let page = page()?;
        let listener = listen(port)?;
        let start = |error: &dyn std::fmt::Display| ViewerError::Start(error.to_string());
        let address = listener.local_addr().map_err(|error| start(&error))?;
        listener.set_nonblocking(true).map_err(|error| start(&error))?;
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(|error| start(&error))?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let shared = Arc::new(Shared {
            page,
            port: address.port(),
            stage: Mutex::new(Stage::default()),
            generation: watch::Sender::new(0),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| start(&error))?;
        let router = router(&token, shared.clone());
        let serve = move || {
            runtime.block_on(async move {
                // A listener that the runtime refuses, or a server that ends, leaves the simulation as it is.
                if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                    let _ = axum::serve(listener, router).await;
                }
            });
        };
        std::thread::Builder::new().name("viewer".to_owned()).spawn(serve).map_err(|error| start(&error))?;
        let url = format!("http://127.0.0.1:{}/{token}/", address.port());
        Ok(Viewer { shared, url })
    }

    /// Where a browser finds it. Whoever knows this address can look.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Shows recorded runs, one over the other.
    pub fn show(&self, runs: Vec<Recorded>) {
        let runs = runs.into_iter().map(|run| Shown::Recorded(Arc::new(run))).collect();
        self.set(Stage { runs, trouble: None });
    }

    /// Shows a run that is going on.
    pub fn show_live(&self, live: Arc<Live>) {
        self.set(Stage { runs: vec![Shown::Live(live)], trouble: None });
    }

    /// Says why there is nothing new to show; what was shown last stays.
    pub fn show_trouble(&self, text: &str) {
        let runs = std::mem::take(&mut self.shared.stage().runs);
        self.set(Stage { runs, trouble: Some(text.to_owned()) });
    }

    fn set(&self, stage: Stage) {
        *self.shared.stage() = stage;
        self.shared.generation.send_modify(|generation| *generation += 1);
    }
}

impl Shared {
    fn stage(&self) -> std::sync::MutexGuard<'_, Stage> {
        // The stage is replaced as a whole: a panic leaves nothing half done.
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recorded(&self, run: usize) -> Result<Arc<Recorded>, Refusal> {
        match self.stage().runs.get(run) {
            Some(Shown::Recorded(recorded)) => Ok(recorded.clone()),
            Some(Shown::Live(_)) => Err(refuse(StatusCode::CONFLICT, "this run is still going on")),
            None => Err(refuse(StatusCode::NOT_FOUND, "there is no such run")),
        }
    }

    fn live(&self) -> Option<Arc<Live>> {
        self.stage().runs.iter().find_map(|shown| match shown {
            Shown::Live(live) => Some(live.clone()),
            Shown::Recorded(_) => None,
        })
    }
}

/// The port that was asked for, or the first free one.
fn listen(port: Option<u16>) -> Result<TcpListener, ViewerError> {
    let bind = |port: u16| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    if let Some(port) = port {
        return bind(port).map_err(|source| ViewerError::Port { port, source });
    }
    let free = (FIRST_PORT..FIRST_PORT + PORTS).find_map(|port| bind(port).ok());
    free.map_or_else(|| bind(0).map_err(|source| ViewerError::Port { port: 0, source }), Ok)
}

fn router(token: &str, shared: Arc<Shared>) -> Router {
    let at = |path: &str| format!("/{token}/{path}");
    Router::new()
        .route(&at(""), get(index))
        .route(&at("page.js"), get(script))
        .route(&at("page.css"), get(style))
        .route(&at("scene"), get(scene))
        .route(&at("run/{run}/rows/{from}/{to}"), get(rows))
        .route(&at("run/{run}/signal"), get(signal))
        .route(&at("run/{run}/patches"), get(patches))
        .route(&at("run/{run}/reach"), get(reach))
        .route(&at("run/{run}/grains"), get(grains))
        .route(&at("run/{run}/ground"), get(ground))
        .route(&at("run/{run}/surface/{surface}/{from}/{to}"), get(surface))
        .route(&at("run/{run}/events"), get(events))
        .route(&at("html"), get(html))
        .route(&at("live"), get(live))
        .fallback(|| async { refuse(StatusCode::NOT_FOUND, "not found: use the whole address that tippe printed") })
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

/// Refuses requests that do not come from a page of ours, and tells browsers what the page may do.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if let Some(reason) = foreign(request.headers(), shared.port) {
        return refuse(StatusCode::FORBIDDEN, reason).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

/// Why a request is refused, if it is: a name that is not this machine's, or another site's page behind it.
fn foreign(headers: &HeaderMap, port: u16) -> Option<&'static str> {
    let own = |host: &str| ["127.0.0.1", "localhost"].iter().any(|name| host == format!("{name}:{port}"));
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
    if !text(header::HOST).is_some_and(own) {
        return Some("the viewer answers to 127.0.0.1 and localhost only");
    }
    match text(header::ORIGIN) {
        Some(origin) if !origin.strip_prefix("http://").is_some_and(own) => {
            Some("the viewer answers to its own page only")
        }
        _ => None,
    }
}

/// A request that gets no answer, and why.
struct Refusal(StatusCode, String);

fn refuse(status: StatusCode, reason: impl std::fmt::Display) -> Refusal {
    Refusal(status, reason.to_string())
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], self.1).into_response()
    }
}

fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, kind)], body.into()).into_response()
}

async fn index(State(shared): State<Arc<Shared>>) -> Response {
    typed("text/html; charset=utf-8", shared.page.index)
}

async fn script(State(shared): State<Arc<Shared>>) -> Response {
    typed("text/javascript; charset=utf-8", shared.page.script)
}

async fn style(State(shared): State<Arc<Shared>>) -> Response {
    typed("text/css; charset=utf-8", shared.page.style)
}

async fn scene(State(shared): State<Arc<Shared>>) -> Response {
    let stage = shared.stage();
    let runs: Vec<serde_json::Value> = stage
        .runs
        .iter()
        .map(|shown| match shown {
            Shown::Recorded(recorded) => recorded.document(),
            Shown::Live(live) => live.document(),
        })
        .collect();
    let generation = *shared.generation.borrow();
    let document = serde_json::json!({
        "protocol": 1,
        "program": concat!("tippe ", env!("CARGO_PKG_VERSION")),
        "generation": generation,
        "trouble": stage.trouble,
        "runs": runs,
    });
    typed("application/json", document.to_string())
}

/// Work with files away from the thread that serves.
async fn read<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, tippe::run::RunError> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(refuse(StatusCode::UNPROCESSABLE_ENTITY, error)),
        Err(_) => Err(refuse(StatusCode::INTERNAL_SERVER_ERROR, "the run could not be read")),
    }
}

async fn rows(
    State(shared): State<Arc<Shared>>,
    Path((run, from, to)): Path<(usize, usize, usize)>,
) -> Result<Response, Refusal> {
    let recorded = shared.recorded(run)?;
    Ok(typed("application/octet-stream", read(move || recorded.block(from..to)).await?))
}

#[derive(serde::Deserialize)]
struct Named {
    name: String,
}

async fn signal(
    State(shared): State<Arc<Shared>>,
    Path(run): Path<usize>,
    Query(Named { name }): Query<Named>,
) -> Result<Response, Refusal> {
    let recorded = shared.recorded(run)?;
    let points = read(move || recorded.signal(&name)).await?;
    let bytes: Vec<u8> = points.iter().flat_map(|(t, v)| [t.to_le_bytes(), v.to_le_bytes()]).flatten().collect();
    Ok(typed("application/octet-stream", bytes))
}

#[derive(serde::Deserialize)]
struct Timed {
    time: f64,
}

async fn patches(
    State(shared): State<Arc<Shared>>,
    Path(run): Path<usize>,
    Query(Timed { time }): Query<Timed>,
) -> Result<Response, Refusal> {
    let recorded = shared.recorded(run)?;
    Ok(typed("application/json", read(move || recorded.patches(time)).await?.to_string()))
}

async fn reach(
    State(shared): State<Arc<Shared>>,
    Path(run): Path<usize>,
    Query(Timed { time }): Query<Timed>,
) -> Result<Response, Refusal> {
    let recorded = shared.recorded(run)?;
    Ok(typed("application/json", read(move || recorded.reach(time)).await?.to_string()))
}

async fn grains(
    State(shared): State<Arc<Shared>>,
    Path(run): Path<usize>,
    Query(Timed { time }): Query<Timed>,
) -> Result<Response, Refusal> {
    const KIND: &str = "application/octet-stream";
    if let Some(live) = shared.live() {
        return Ok(typed(KIND, live.grains().to_vec()));
    }
    let recorded = shared.recorded(run)?;
    Ok(typed(KIND, read(move || recorded.grains(time)).await?))
}

/// What of a ground a page knows already.
#[derive(serde::Deserialize)]
struct Since {
    since: u64,
}

/// The ground of a live run; recorded ones have none.
async fn ground(State(shared): State<Arc<Shared>>, Query(Since { since }): Query<Since>) -> Result<Response, Refusal> {
    const KIND: &str = "application/octet-stream";
    Ok(typed(KIND, shared.live().map_or_else(Vec::new, |live| live.ground(since))))
}

async fn surface(
    State(shared): State<Arc<Shared>>,
    Path((run, surface, from, to)): Path<(usize, usize, usize, usize)>,
) -> Result<Response, Refusal> {
    let recorded = shared.recorded(run)?;
    Ok(typed("application/octet-stream", read(move || recorded.surface(surface, from..to)).await?))
}

async fn events(State(shared): State<Arc<Shared>>, Path(run): Path<usize>) -> Result<Response, Refusal> {
    let recorded = shared.recorded(run)?;
    Ok(typed("application/json", read(move || recorded.events()).await?.to_string()))
}

async fn html(State(shared): State<Arc<Shared>>) -> Result<Response, Refusal> {
    let recorded = shared.recorded(0)?;
    let text = match tokio::task::spawn_blocking(move || standalone(&[&recorded])).await {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => return Err(refuse(StatusCode::UNPROCESSABLE_ENTITY, error)),
        Err(_) => return Err(refuse(StatusCode::INTERNAL_SERVER_ERROR, "the run could not be read")),
    };
    // Sent as data, to be saved: it is not a page of this server.
    Ok(typed("application/octet-stream", text))
}

async fn live(State(shared): State<Arc<Shared>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.max_message_size(64 << 10).on_upgrade(move |socket| async move {
        // A browser that goes away ends the conversation and nothing else.
        let _ = converse(socket, &shared).await;
        // A hand that is gone holds nothing.
        shared.live().iter().for_each(|live| live.pull(None));
    })
}

/// What a page may ask of a run that is going on.
#[derive(serde::Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Ask {
    /// It has drawn the last row.
    Ready,
    /// Hold the simulation.
    Hold,
    /// Let it go on.
    Go,
    /// One communication point.
    Step,
    /// A hand pulls a point of a body, in its frame [m], to a point of the world [m].
    Pull {
        /// Which body, in the order of the description.
        body: usize,
        /// Where at the body.
        at: [f64; 3],
        /// Where to.
        to: [f64; 3],
    },
    /// It lets go.
    LetGo,
    /// A number from outside.
    Input {
        /// Which, in the order of the description.
        input: usize,
        /// New value.
        value: f64,
    },
}

/// Sends rows as the page asks for them, and word when the stage changes.
async fn converse(mut socket: WebSocket, shared: &Shared) -> Result<(), axum::Error> {
    let mut generation = shared.generation.subscribe();
    loop {
        let mut grip = Grip::default();
        let now = *generation.borrow_and_update();
        let hello = serde_json::json!({ "type": "stage", "generation": now });
        socket.send(Message::Text(hello.to_string().into())).await?;
        let live = shared.live();
        let mut rows = live.as_ref().map(|live| live.latest.subscribe());
        if let (Some(live), Some(rows)) = (&live, &mut rows) {
            rows.mark_changed();
            live.want();
        }
        let mut told = 0;
        loop {
            let row = async {
                match &mut rows {
                    Some(rows) => rows.changed().await.is_ok(),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = generation.changed() => break,
                there = row => {
                    if let (true, Some(rows), Some(live)) = (there, &mut rows, &live) {
                        tell(&mut socket, live, &mut told).await?;
                        let block = rows.borrow_and_update().clone();
                        if !block.is_empty() {
                            socket.send(Message::Binary(block.as_ref().clone().into())).await?;
                        }
                    } else {
                        rows = None;
                    }
                }
                message = socket.recv() => {
                    let Some(message) = message else { return Ok(()) };
                    let Message::Text(text) = message? else { continue };
                    // What is not understood comes from nobody we know.
                    let (Ok(ask), Some(live)) = (serde_json::from_str(text.as_str()), &live) else { continue };
                    if matches!(ask, Ask::Hold | Ask::Pull { .. }) {
                        grip.0 = Some(live.clone());
                    }
                    match ask {
                        Ask::Ready => live.want(),
                        Ask::Hold => live.hold(true),
                        Ask::Go => live.hold(false),
                        Ask::Step => live.step(),
                        Ask::Input { input, value } => live.set_input(input, value),
                        Ask::Pull { body, at, to } => live.pull(Some((body, at.into(), to.into()))),
                        Ask::LetGo => live.pull(None),
                    }
                    if matches!(ask, Ask::Hold | Ask::Go) {
                        tell(&mut socket, live, &mut told).await?;
                    }
                }
            }
        }
    }
}

/// Says how far a run is, and what happened since the last time.
async fn tell(socket: &mut WebSocket, live: &Live, told: &mut usize) -> Result<(), axum::Error> {
    let (news, next) = live.news(*told);
    *told = next;
    socket.send(Message::Text(serde_json::to_string(&news).unwrap_or_default().into())).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        headers
    }

    /// Only pages of this server may ask: no rebound domain, no other site, no other port.
    #[test]
    fn strangers_are_refused() {
        assert_eq!(foreign(&headers("127.0.0.1:7878", None), 7878), None);
        assert_eq!(foreign(&headers("localhost:7878", Some("http://localhost:7878")), 7878), None);
        for host in ["evil.example:7878", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:7878", ""] {
            assert!(foreign(&headers(host, None), 7878).is_some(), "{host}");
        }
        for origin in ["http://evil.example", "https://127.0.0.1:7878", "null", "http://127.0.0.1:8080"] {
            assert!(foreign(&headers("127.0.0.1:7878", Some(origin)), 7878).is_some(), "{origin}");
        }
        assert!(foreign(&HeaderMap::new(), 7878).is_some());
    }

    /// A port that is asked for and taken is an error that names it; without a wish the next one is taken.
    #[test]
    fn taken_ports() {
        let first = listen(None).unwrap();
        let port = first.local_addr().unwrap().port();
        let message = listen(Some(port)).unwrap_err().to_string();
        assert!(message.contains(&format!("127.0.0.1:{port}")) && message.contains("--port"), "{message}");
        assert_ne!(listen(None).unwrap().local_addr().unwrap().port(), port);
    }
}
